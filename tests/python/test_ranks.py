# SPDX-License-Identifier: Apache-2.0
"""Ranks and Comm: each test is a program that runs as two processes, on softcuda, and prints what it saw as JSON. Those that
leave both processes well run one after the other in the same two. usage: test_ranks.py [program NAMES]"""
import functools
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import uuid

from common import COUNT, fill, gph, numpy, values_of

PROGRAMS = {}
TOGETHER = (("agrees", "differs", "is_out_of_step", "fails_on_one", "is_late", "reports", "runs_other_threads",
             "closes_while_it_waits"), ("reduces", "captures", "is_a_callable", "records_another"))
running = None  # in one of the two: name of the program


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def say(**what):
    print(json.dumps([running, what]), flush=True)


def caught(call, *args):
    """What it raises, in words that JSON has."""
    try:
        call(*args)
    except Exception as error:
        return {"type": type(error).__name__, "text": str(error), "rank": getattr(error, "rank", None),
                "place": os.path.basename(getattr(error, "place", None) or ""), "cause": type(error.__cause__).__name__}
    return None


def die():
    os.kill(os.getpid(), signal.SIGKILL)


# ---- agreement ----

@program
def agrees():
    with gph.Ranks() as ranks:
        say(rank=ranks.rank, count=ranks.count, local=ranks.local, text=repr(ranks),
            ints=ranks.gather("number", 10 * ranks.rank - 5),
            bytes=[b.decode() for b in ranks.gather("bytes", b"ab%d" % ranks.rank)],
            view=[b.hex() for b in ranks.gather("view", memoryview(bytes([ranks.rank, 255])))],
            empty=[b.decode() for b in ranks.gather("empty", b"")],
            most=ranks.most("bucket", 3 + ranks.rank), least=ranks.least("bucket", 3 + ranks.rank),
            agree=ranks.agree("ladder", "16 64 256"), check=ranks.check(),
            peers=[{k: p[k] for k in ("rank", "alive", "steps", "at")} for p in ranks.peers],
            own=ranks.peers[ranks.rank]["process"] == os.getpid())
    say(closed=caught(ranks.gather, "number", 1), again=ranks.close(), rank=ranks.rank, text=repr(ranks))


@program
def differs():
    with gph.Ranks() as ranks:
        say(error=caught(ranks.agree, "ladder", "16 64" if ranks.rank else "16 32"), after=ranks.most("after", ranks.rank))


@program
def is_out_of_step():
    with gph.Ranks() as ranks:
        ranks.most("first", 1)
        error = caught(ranks.most, "bucket", 1) if ranks.rank else caught(ranks.agree, "ladder", "x")
        say(error=error, later=caught(ranks.check), same=caught(ranks.most, "next", 1))


def record(fails):
    return 1 // (0 if fails else 1)


@program
def fails_on_one():
    with gph.Ranks() as ranks:
        failure = None
        try:
            record(ranks.rank == 1)
        except Exception as error:
            failure = error
        say(error=caught(ranks.all, "record", failure), after=ranks.most("after", ranks.rank), fine=ranks.all("more"))
        refused = gph.InvalidError("a bad number") if ranks.rank == 0 else None
        say(error=caught(ranks.all, "refused", refused))


@program
def is_killed():
    with gph.Ranks() as ranks:
        ranks.most("first", 1)
        if ranks.rank == 1:
            die()
        begin = time.monotonic()
        say(error=caught(ranks.gather, "second", 1), seconds=time.monotonic() - begin, alive=[p["alive"] for p in ranks.peers])


@program
def leaves_by_exception():
    with gph.Ranks() as ranks:
        if ranks.rank == 1:
            raise KeyError("weights")
        begin = time.monotonic()
        say(error=caught(ranks.gather, "second", 1), seconds=time.monotonic() - begin)


@program
def leaves_by_exit():
    with gph.Ranks() as ranks:
        if ranks.rank == 1:
            sys.exit(0)
        time.sleep(0.1)
        say(check=ranks.check())


@program
def is_late():
    with gph.Ranks(patience_s=0.3) as ranks:
        if ranks.rank == 1:
            time.sleep(1)
        say(error=caught(ranks.most, "bucket", 1))


@program
def reports():
    with gph.Ranks() as ranks:
        if ranks.rank == 1:
            ranks.most("first", 1)
            ranks.fail("the disk is full")
        else:
            ranks.most("first", 1)
            say(error=caught(ranks.most, "second", 1), check=caught(ranks.check))


@program
def is_interrupted():
    with gph.Ranks() as ranks:
        ranks.most("first", 1)
        if ranks.rank == 1:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            begin = time.monotonic()
            try:
                ranks.most("second", 1)
            except KeyboardInterrupt:
                say(seconds=time.monotonic() - begin, check=caught(ranks.check))
        else:
            while not caught(ranks.check):
                time.sleep(0.01)
            say(error=caught(ranks.most, "second", 1))


@program
def does_not_come():
    if os.environ["GPH_RANK"] == "0":
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        try:
            gph.Ranks()
        except KeyboardInterrupt:
            say(seconds=time.monotonic() - begin)


@program
def runs_other_threads():
    with gph.Ranks() as ranks:
        counted = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(0)
                time.sleep(0.001)
        thread = threading.Thread(target=count)
        thread.start()
        if ranks.rank == 1:
            time.sleep(0.3)
        before = len(counted)
        ranks.most("bucket", 1)
        say(counted=len(counted) - before)
        stop.set()
        thread.join()


@program
def closes_while_it_waits():
    ranks = gph.Ranks()
    if ranks.rank == 0:
        found = []
        thread = threading.Thread(target=lambda: found.append(ranks.most("bucket", 1)))
        thread.start()
        time.sleep(0.1)
        ranks.close()  # the group is left when the call is over
        thread.join()
        say(found=found)
    else:
        time.sleep(0.3)
        say(found=[ranks.most("bucket", 7)])


# ---- communicators ----

def opened(**options):
    runtime = gph.open()
    ranks = gph.Ranks()
    return runtime, runtime.stream(), ranks, gph.Comm(ranks, runtime, way="own", **options)


def filled(runtime, values):
    tensor = runtime.pool().tensor(len(values))
    fill(tensor, values)
    return tensor


@program
def reduces():
    runtime, stream, ranks, comm = opened()
    with ranks:
        mine = [float(i * (1 + ranks.rank)) for i in range(COUNT)]
        x, y = filled(runtime, mine), filled(runtime, [0.0] * COUNT)
        say(returns=[comm.all_reduce(x, y, stream=stream) is y, comm.all_reduce(y, op="max", stream=stream) is y])
        ranks.wait(stream)
        say(sum=values_of(y), kept=values_of(x) == mine)
        wide = filled(runtime, [0.0] * (2 * COUNT))
        comm.all_gather(x, wide, stream=stream)
        comm.broadcast(x, 1, stream=stream)
        ranks.wait(stream)
        say(gathered=values_of(wide, 2 * COUNT), sent=values_of(x), info=comm.info, nccl=comm.nccl,
            ranks=comm.ranks is ranks)
        turned = runtime.tensor(x.data, (4, 8), strides=(1, 4), owner=x)
        say(errors=[caught(comm.all_reduce, x, y, "mean"), caught(comm.all_reduce, x, wide), caught(comm.all_reduce, 7),
                    caught(comm.all_gather, x, x), caught(comm.graph_agree, "graph"), caught(comm.keep, stream),
                    caught(comm.all_reduce, turned)])
        array = None
        if numpy:
            array = comm.all_reduce(numpy.full((2, 3), 1.5, "f2"), stream=stream)
            ranks.wait(stream)
        say(array=array.tolist() if numpy else None)


@program
def captures():
    runtime, stream, ranks, comm = opened()
    with ranks:
        x = filled(runtime, [1.0 + ranks.rank] * COUNT)
        with runtime.capture(stream) as capture:
            comm.all_reduce(x, stream=stream)
            comm.all_reduce(x, op="max", stream=stream)
            comm.keep(stream)
        comm.graph_agree(capture.recording)
        replay = capture.recording.instantiate()
        for _ in range(3):
            replay(stream)
        ranks.wait(stream)
        say(x=values_of(x), captured=comm.info["captured"], graphs=comm.info["graphs"])
        del comm, capture
        gc.collect()
        replay(stream)  # which keeps the communicator
        ranks.wait(stream, runtime)
        say(x=values_of(x)[:1])
    del replay, ranks
    gc.collect()


@program
def is_a_callable():
    runtime, stream, ranks, comm = opened()
    with ranks:
        pool, x = runtime.pool(), filled(runtime, [2.0] * COUNT)

        def both(call, x):
            return comm.all_reduce(x, call.empty(x.shape), stream=call.stream)
        step = runtime.callable(both, (x,), outputs=1, pool=pool, stream=stream, keep_graph=True)
        comm.graph_agree(step)
        y = step(x)
        ranks.wait(stream)
        say(y=values_of(y))
        bare = runtime.callable(both, (x,), outputs=1, pool=pool, stream=stream)
        say(error=caught(comm.graph_agree, bare))


@program
def records_another():
    runtime, stream, ranks, comm = opened()
    with ranks:
        x = filled(runtime, [1.0] * COUNT)
        with runtime.capture(stream) as capture:
            comm.all_reduce(x, stream=stream)
            comm.all_reduce(x, op="max" if ranks.rank else "sum", stream=stream)
        say(error=caught(comm.graph_agree, capture.recording),
            name=caught(lambda: gph.Comm(ranks, runtime, way="own", name="of rank %d" % ranks.rank)),
            way=caught(lambda: gph.Comm(ranks, runtime, way="fastest")), nccl=caught(lambda: gph.Comm(ranks, runtime, way="nccl")),
            capturing=caught(make_while_capturing, runtime, ranks), after=ranks.most("after", 3))
    del comm
    gc.collect()
    say(closed=caught(lambda: gph.Comm(ranks, runtime)))


def make_while_capturing(runtime, ranks):
    with runtime.capture(runtime.stream()):
        gph.Comm(ranks, runtime, way="own")


@program
def is_killed_in_a_graph():
    runtime, stream, ranks, comm = opened()
    with ranks:
        x = filled(runtime, [1.0] * COUNT)
        with runtime.capture(stream) as capture:
            comm.all_reduce(x, stream=stream)
        comm.graph_agree(capture.recording)
        replay = capture.recording.instantiate()
        if ranks.rank == 1:
            die()
        begin = time.monotonic()
        replay(stream)
        say(error=caught(ranks.wait, stream), seconds=time.monotonic() - begin)
        stream.synchronize()


@program
def is_interrupted_in_a_wait():
    runtime, stream, ranks, comm = opened()
    try:
        with ranks:
            if ranks.rank == 1:
                while not caught(ranks.check):
                    time.sleep(0.01)
                say(error=caught(ranks.check))
                return
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            begin = time.monotonic()
            comm.all_reduce(filled(runtime, [1.0] * COUNT), stream=stream)  # which the other one does not come to
            ranks.wait(stream)
    except KeyboardInterrupt:
        say(seconds=time.monotonic() - begin)
    stream.synchronize()  # the group has failed, so that the kernel has ended


# ---- the tests ----

def start(names, rank, job):
    environment = dict(os.environ, GPH_RANK=str(rank), GPH_RANKS="2", GPH_RANKS_ID=job)
    return subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), "program", *names], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@functools.cache
def run(*names):
    """Of each rank (what it said, in lists by program, exit status, standard error)."""
    job, found = "%s-%s" % (names[0], uuid.uuid4().hex), []
    processes = [start(names, rank, job) for rank in range(2)]
    try:
        for process in processes:
            out, err = process.communicate(timeout=100)
            said = {name: [] for name in names}
            for name, what in map(json.loads, out.splitlines()):
                said[name].append(what)
            found.append((said, process.returncode, err))
    finally:
        for process in processes:
            process.kill()
    return found


class Case(unittest.TestCase):
    def both(self, name):
        """What both said, after both have ended well."""
        found = run(*next((names for names in TOGETHER if name in names), (name,)))
        for said, status, err in found:
            self.assertEqual(status, 0, err)
        return [said[name] for said, _, _ in found]

    def first(self, name, other_status):
        """What rank 0 said, which ended well, and the other's standard error."""
        (said, status, err), (_, other, trace) = run(name)
        self.assertEqual((status, other), (0, other_status), err)
        return said[name][0], trace

    def is_about(self, error, kind, *words):
        self.assertEqual(error["type"], kind, error)
        for word in words:
            self.assertIn(word, error["text"])


class Agreement(Case):
    def test_all_of_them(self):
        for rank, (inside, after) in enumerate(self.both("agrees")):
            self.assertEqual((inside["rank"], inside["count"], inside["local"]), (rank, 2, rank))
            self.assertEqual(inside["ints"], [-5, 5])
            self.assertEqual(inside["bytes"], ["ab0", "ab1"])
            self.assertEqual(inside["view"], ["00ff", "01ff"])
            self.assertEqual(inside["empty"], ["", ""])
            self.assertEqual((inside["most"], inside["least"]), (4, 3))
            self.assertEqual(inside["text"], "<graphophone.Ranks: rank %d of 2>" % rank)
            self.assertEqual([p["rank"] for p in inside["peers"]], [0, 1])
            self.assertEqual(inside["peers"][rank], {"rank": rank, "alive": True, "steps": 7, "at": "ladder"})
            self.assertTrue(inside["own"])
            self.is_about(after["closed"], "StateError", "closed")
            self.assertEqual((after["rank"], after["text"]), (rank, "<graphophone.Ranks: rank %d of 2, closed>" % rank))

    def test_another_text(self):
        for (said,) in self.both("differs"):
            self.is_about(said["error"], "InvalidError", "16 64", "16 32", "ladder")
            self.assertRegex(said["error"]["place"], r"test_ranks\.py:\d+")
            self.assertEqual(said["after"], 1)

    def test_another_step(self):
        for (said,) in self.both("is_out_of_step"):
            self.is_about(said["error"], "StateError", "'bucket'", "'ladder'", "test_ranks.py:")
            self.assertEqual(said["later"]["text"], said["error"]["text"])
            self.assertEqual(said["same"]["text"], said["error"]["text"])

    def test_one_that_fails(self):
        line = record.__code__.co_firstlineno + 1
        for rank, (first, second) in enumerate(self.both("fails_on_one")):
            self.is_about(first["error"], "StateError", "rank 1: ZeroDivisionError", "test_ranks.py:%d" % line)
            self.assertEqual(first["error"]["rank"], 1)
            self.assertEqual(first["error"]["cause"], "ZeroDivisionError" if rank else "NoneType")
            self.assertEqual((first["after"], first["fine"]), (1, None))
            self.is_about(second["error"], "InvalidError", "rank 0: ", "a bad number")

    def test_one_that_is_killed(self):
        said, _ = self.first("is_killed", -signal.SIGKILL)
        self.is_about(said["error"], "StateError", "rank 1", "'first'")
        self.assertEqual((said["error"]["rank"], said["alive"]), (1, [True, False]))
        self.assertRegex(said["error"]["place"], r"test_ranks\.py:\d+")
        self.assertLess(said["seconds"], 5)

    def test_an_exception_that_leaves_the_block(self):
        said, trace = self.first("leaves_by_exception", 1)
        self.assertIn("KeyError: 'weights'", trace)
        self.is_about(said["error"], "StateError", "rank 1: KeyError: 'weights' (", "test_ranks.py:")
        self.assertLess(said["seconds"], 5)

    def test_an_exit_is_no_failure(self):
        (said,), _ = self.both("leaves_by_exit")
        self.assertIsNone(said["check"])

    def test_one_that_is_late(self):
        for (said,) in self.both("is_late"):
            self.is_about(said["error"], "StateError", "rank 1", "300 ms")
            self.assertEqual(said["error"]["rank"], 1)

    def test_one_that_reports(self):
        (said,), _ = self.both("reports")
        self.is_about(said["error"], "StateError", "rank 1: the disk is full")
        self.assertEqual(said["check"]["text"], said["error"]["text"])

    def test_an_interrupt(self):
        (other,), (own,) = self.both("is_interrupted")
        self.assertLess(own["seconds"], 5)
        self.is_about(own["check"], "StateError", "rank 1", "'second'")
        self.assertEqual(other["error"]["text"], own["check"]["text"])

    def test_an_interrupt_of_the_meeting(self):
        (said,), _ = self.both("does_not_come")
        self.assertLess(said["seconds"], 5)

    def test_other_threads_run(self):
        (said,), _ = self.both("runs_other_threads")
        self.assertGreater(said["counted"], 20)

    def test_a_close_meanwhile(self):
        for (said,) in self.both("closes_while_it_waits"):
            self.assertEqual(said["found"], [7])

    def test_one_process(self):
        with gph.Ranks(count=1, name="alone-%s" % uuid.uuid4().hex) as ranks:
            self.assertEqual((ranks.rank, ranks.count, ranks.gather("a", 5), ranks.most("b", -3)), (0, 1, [5], -3))
            for wrong in (lambda: ranks.most("c", "x"), lambda: ranks.gather("c", 1.5), lambda: ranks.all("c", "text"),
                          lambda: ranks.fail(3), lambda: gph.Ranks(count="two"), lambda: gph.Comm(ranks, 3)):
                self.assertRaises(TypeError, wrong)
            self.assertRaises(OverflowError, ranks.gather, "c", 1 << 63)
            self.assertRaisesRegex(gph.InvalidError, "patience_s", gph.Ranks, patience_s=-1)
            self.assertRaisesRegex(gph.InvalidError, "rank 2", gph.Ranks, count=2, rank=2)
            self.assertRaisesRegex(gph.InvalidError, "runtime", ranks.wait, 0)
            self.assertRaises(gph.InvalidError, ranks.gather, "c", bytes((1 << 20) + 1))
            self.assertEqual(ranks.gather("d", 6), [6])


class Communicators(Case):
    def test_eager(self):
        for returns, sums, rest, wrong, arrays in self.both("reduces"):
            mine = [[float(i * (1 + r)) for i in range(COUNT)] for r in range(2)]
            self.assertEqual(returns["returns"], [True, True])
            self.assertEqual(sums["sum"], [a + b for a, b in zip(*mine)])
            self.assertTrue(sums["kept"])
            self.assertEqual(rest["gathered"], mine[0] + mine[1])
            self.assertEqual(rest["sent"], mine[1])
            self.assertEqual((rest["info"]["calls"], rest["info"]["captured"], rest["info"]["graphs"]), (4, 0, 0))
            self.assertTrue(rest["info"]["has_own"] and rest["ranks"] and rest["info"]["text"])
            self.assertIsNone(rest["nccl"])
            for error, kind, words in zip(wrong["errors"], ("InvalidError", "InvalidError", "TypeError", "InvalidError", "TypeError",
                                                            "StateError", "InvalidError"),
                                          ("mean", "128 elements", "not a tensor", "128 of f32", "CUgraph", "not captured",
                                           "contiguous")):
                self.is_about(error, kind, words)
                self.assertRegex(error["place"], "^$" if kind == "TypeError" else r"test_ranks\.py:\d+")
            self.assertEqual(arrays["array"], [[3.0] * 3] * 2 if numpy else None)

    def test_captured(self):
        for said in self.both("captures"):
            self.assertEqual(said[0], {"x": [12.0] * COUNT, "captured": 2, "graphs": 1})
            self.assertEqual(said[1], {"x": [24.0]})

    def test_in_a_callable(self):
        for said in self.both("is_a_callable"):
            self.assertEqual(said[0]["y"], [4.0] * COUNT)
            self.is_about(said[1]["error"], "InvalidError", "keep_graph")

    def test_graphs_that_differ(self):
        for said, _ in self.both("records_another"):
            self.is_about(said["error"], "InvalidError", "sum", "max", "test_ranks.py:", "rank 1")

    def test_one_that_cannot_be_made(self):
        for said, after in self.both("records_another"):
            self.is_about(said["name"], "InvalidError", "of rank 0", "of rank 1")
            self.is_about(said["way"], "InvalidError", "'fastest'", "best, nccl, own")
            self.is_about(said["nccl"], "UnsupportedError", "softcuda")
            self.is_about(said["capturing"], "StateError", "captures are open")
            self.assertRegex(said["nccl"]["place"], r"test_ranks\.py:\d+")
            self.assertEqual(said["after"], 3)
            self.is_about(after["closed"], "StateError", "closed")

    def test_an_interrupt_of_a_wait(self):
        (own,), (other,) = self.both("is_interrupted_in_a_wait")
        self.assertLess(own["seconds"], 5)
        self.is_about(other["error"], "StateError", "rank 0: KeyboardInterrupt", "test_ranks.py:")
        self.assertEqual(other["error"]["rank"], 0)

    def test_a_rank_that_is_killed_in_a_graph(self):
        said, _ = self.first("is_killed_in_a_graph", -signal.SIGKILL)
        self.is_about(said["error"], "StateError", "rank 1")
        self.assertEqual(said["error"]["rank"], 1)
        self.assertLess(said["seconds"], 5)


if __name__ == "__main__":
    if sys.argv[1:2] == ["program"]:
        for running in sys.argv[2:]:
            PROGRAMS[running]()
    else:
        program = unittest.main(exit=False, verbosity=1)
        sys.exit(0 if program.result.wasSuccessful() else 1)
