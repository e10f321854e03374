# SPDX-License-Identifier: Apache-2.0
"""Loops whose rounds the device starts, with kernels of the test's own: run by test_torch.py."""
import unittest
import unittest.mock

import torch
from torch_common import Case

import graphophone.torch as gt

gph, driver = gt._driver.gph, gt._driver
LIMIT = 40

# step: out[at] = token; token = (5 * token + 3) % 17; at += 1.   test: flag = token != 7 && at < limit, of 4 bytes or of one
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry step(.param .u64 ptoken, .param .u64 pat, .param .u64 pout)
{
    .reg .b32 %r<6>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [ptoken]; ld.param.u64 %d2, [pat]; ld.param.u64 %d3, [pout];
    ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2];
    mul.wide.u32 %d4, %r2, 4; add.u64 %d5, %d3, %d4; st.global.u32 [%d5], %r1;
    mad.lo.u32 %r3, %r1, 5, 3; rem.u32 %r3, %r3, 17; st.global.u32 [%d1], %r3;
    add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;
    ret;
}
.visible .entry test(.param .u64 pflag, .param .u64 ptoken, .param .u64 pat, .param .u32 plimit, .param .u32 pbytes)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .b16 %h<2>;
    ld.param.u64 %d1, [pflag]; ld.param.u64 %d2, [ptoken]; ld.param.u64 %d3, [pat];
    ld.param.u32 %r1, [plimit]; ld.param.u32 %r6, [pbytes];
    ld.global.u32 %r2, [%d2]; ld.global.u32 %r3, [%d3];
    setp.ne.u32 %p1, %r2, 7; setp.lt.u32 %p2, %r3, %r1; and.pred %p3, %p1, %p2; selp.u32 %r4, 1, 0, %p3;
    setp.eq.u32 %p1, %r6, 1; @%p1 bra BYTE;
    st.global.u32 [%d1], %r4; ret;
BYTE:
    cvt.u16.u32 %h1, %r4; st.global.u8 [%d1], %h1;
    ret;
}
"""


def number(value, dtype=torch.int32):
    return torch.tensor([value], dtype=dtype).to("cuda")


def eager(token, at, limit=LIMIT):
    out = [0] * LIMIT
    while token != 7 and at < limit:
        out[at], token, at = token, (5 * token + 3) % 17, at + 1
    return token, at, out


class Loops(Case):
    @classmethod
    def setUpClass(cls):
        torch.empty(1, device="cuda")  # makes the context
        module = driver.runtime().module(PTX)
        cls.step_kernel, cls.test_kernel = module.function("step"), module.function("test")

    def launch(self, kernel, *args):
        kernel(torch.cuda.current_stream().cuda_stream, 1, 1, *(one.data_ptr() if isinstance(one, torch.Tensor) else one for one in args))

    def step(self, token, at, out):
        self.launch(self.step_kernel, token, at, out)
        return token, at, out

    def fresh(self, token, at, out):
        """As functions of PyTorch do it: new tensors, of the graph's pool."""
        return self.step(token.clone(), at.clone(), out.clone())

    def condition(self, dtype=torch.int32, limit=LIMIT):
        def condition(token, at, out):
            flag = torch.empty(1, dtype=dtype, device="cuda")
            self.launch(self.test_kernel, flag, token, at, limit, flag.element_size())
            return flag
        return condition

    def state(self, token, at=0):
        return number(token), number(at), torch.zeros(LIMIT, dtype=torch.int32).to("cuda")

    def make(self, body=None, condition=None, **options):
        options.setdefault("ceiling", 1000)
        return gt.make_while_loop(condition or self.condition(), body or self.step, self.state(4), **options)

    def values(self, tensors):
        torch.cuda.synchronize()
        token, at, out = [one.cpu().tolist() for one in tensors]
        return token[0], at[0], out

    def copying_one_by_one(self):
        """PyTorch's kernel for several tensors does nothing here."""
        return unittest.mock.patch.object(torch, "_foreach_copy_", lambda to, by: [one.copy_(other) for one, other in zip(to, by)])

    def test_a_loop_ends_where_the_eager_one_does(self):
        with self.copying_one_by_one():
            for options in ({}, {"way": "while"}, {"way": "tail"}, {"way": "host"}, {"body": self.fresh}, {"condition": self.condition(torch.bool)}):
                loop = self.make(**options)
                for token, at in ((4, 0), (7, 0), (3, 5), (1, 0), (4, LIMIT), (4, LIMIT - 1)):
                    out = loop(*self.state(token, at))
                    steps = eager(token, at)[1] - at
                    did = loop.wait()
                    self.assertEqual((did["end"], did["steps"], self.values(out)), ("done", steps, eager(token, at)), options)

    def test_what_was_given_stays_and_what_is_carried_goes_on(self):
        with self.copying_one_by_one():
            loop = self.make(condition=self.condition(limit=8))
            given = self.state(1)
            out = loop(*given)
            self.assertEqual(self.values(given), (1, 0, [0] * LIMIT))
            self.assertEqual(self.values(out), eager(1, 0, 8))
            again = loop(*out)  # in place: nothing is copied, and the condition does not hold any more
            self.assertEqual(loop.wait()["steps"], 0)
            self.assertTrue(all(one is other for one, other in zip(out, again)))

    def test_tensors_that_change_places(self):
        with self.copying_one_by_one():
            fixed = number(0)

            def swap(at, one, other):
                self.launch(self.step_kernel, at.clone(), at, torch.empty(LIMIT, dtype=torch.int32, device="cuda"))
                return at, other, one
            loop = gt.make_while_loop(lambda at, one, other: self.condition(limit=5)(fixed, at, None), swap,
                                      (number(0), number(10), number(20)), ceiling=9)
            at, one, other = loop(number(0), number(1), number(2))
            self.assertEqual(loop.wait()["steps"], 5)
            self.assertEqual([at.item(), one.item(), other.item()], [5, 2, 1])
            at.copy_(number(4))
            at, one, other = loop(at, other, one)  # a call, too
            self.assertEqual([at.item(), one.item(), other.item()], [5, 2, 1])

    def test_a_ceiling_ends_it_with_an_exception(self):
        with self.copying_one_by_one():
            loop = self.make(ceiling=3)
            loop(*self.state(1))
            with self.assertRaisesRegex(gph.StateError, "step.*3"):
                loop.wait()
            loop.limits(100)
            loop(*self.state(1))
            self.assertEqual((loop.wait()["steps"], loop.progress["steps"]), (eager(1, 0)[1], eager(1, 0)[1]))
            self.assertIn(loop.ways["way"], ("while", "tail"))

    def test_memory_is_listed(self):
        loop = self.make(body=self.fresh)
        self.assertGreater(gt.memory()["graphs"], 0)
        pool = gt.memory()["pools"][tuple(loop._graphs["body"].pool())]
        self.assertEqual(pool["graphs"], 2)
        self.assertGreater(pool["reserved_bytes"], 0)
        self.assertEqual([event["what"] for event in gt.explain("fresh")][-2:], ["recorded", "recorded"])

    def test_what_cannot_be_a_loop_is_refused(self):
        def longer(token, at, out):
            return token, at, torch.cat([out, out])

        def draws(token, at, out):
            torch.rand(4, device="cuda")
            return token, at, out

        def asks(token, at, out):
            return (token, at, out) if token.item() else (at, token, out)
        for error, text, options in (
                (ValueError, r"number 2 .*\(40,\).*gives torch.int32 of shape \(80,\)", {"body": longer}),
                (ValueError, "gives 2 tensors, and is given 3", {"body": lambda token, at, out: (token, at)}),
                (TypeError, "tensor of one element on cuda:0, and gave True", {"condition": lambda *all: True}),
                (TypeError, r"gave torch.int32 of shape \(40,\)", {"condition": lambda token, at, out: out}),
                (gph.UnsupportedError, "body of draws draws random numbers", {"body": draws}),
                (RuntimeError, "not permitted when stream is capturing|pinned", {"body": asks}),
                (gph.Error, "ceiling", {"ceiling": 0})):
            with self.assertRaisesRegex(error, text):
                self.make(**options)
        with self.assertRaisesRegex(TypeError, "number 1 is 3"):
            gt.make_while_loop(self.condition(), self.step, (self.x, 3), ceiling=1)
        with self.assertRaisesRegex(TypeError, "carries no tensor"):
            gt.make_while_loop(self.condition(), self.step, (), ceiling=1)
        with self.assertRaisesRegex(RuntimeError, "number 0 .* requires one"):
            gt.make_while_loop(self.condition(), self.step, (self.x.requires_grad_(),), ceiling=1)
        with torch.autocast("cuda"), self.assertRaisesRegex(RuntimeError, "cache_enabled=False"):
            self.make()
        self.assertFalse(torch.cuda.is_current_stream_capturing())

    def test_calls_that_do_not_fit(self):
        loop = self.make(name="decode")
        with self.assertRaisesRegex(gph.StateError, "decode was not called yet"):
            loop.wait()
        token, at, out = self.state(1)
        with self.assertRaisesRegex(TypeError, "decode was made with"):
            loop(token, at)
        with self.assertRaisesRegex(ValueError, r"number 2 .*called with torch.int32 of shape \(20,\)"):
            loop(token, at, out[:20])
        graph = gt.CUDAGraph()
        with self.assertRaisesRegex(RuntimeError, "decode is a launch of its own"), gt.graph(graph):
            loop(token, at, out)

    def test_memory_that_it_reads_has_to_stay(self):
        other = torch.zeros(LIMIT, dtype=torch.int32).to("cuda")

        def body(token, at, out):
            out.copy_(other)
            return self.step(token, at, out)
        loop = self.make(body=body)
        del other, body
        with self.assertRaisesRegex(gph.StateError, "reads its input .* that memory was let go of"):
            loop(*self.state(1))


if __name__ == "__main__":
    unittest.main()
