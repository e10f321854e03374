# SPDX-License-Identifier: Apache-2.0
"""Graphed callables in files, loaded by new processes with weights and memory elsewhere; with kernels of a library, torch_images.c.

usage: test_torch_saved.py GPH KERNELS IMAGES"""
import ctypes
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

if __name__ == "__main__":
    if "GPH_TORCH_IMAGES" not in os.environ:
        os.environ["GPH_TORCH_IMAGES"] = os.path.abspath(sys.argv.pop(3))
    import torch_start
    torch_start.start()
import torch  # noqa: E402
from torch_common import COUNT, Case, tensor  # noqa: E402: ends without PyTorch 2.11

import graphophone.torch as gt  # noqa: E402

gph, driver = gt._saved.gph, gt._driver
IMAGES = os.environ["GPH_TORCH_IMAGES"]


def kernel_of(symbol, name):
    """A CUfunction, loaded as the CUDA runtime loads it, which does not say where it has it from."""
    library, kernel, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    image = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(IMAGES), symbol))
    pointer, nothing = ctypes.POINTER(ctypes.c_void_p), [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
    driver.call("cuLibraryLoadData", pointer, ctypes.c_void_p, *nothing, *nothing)(
        ctypes.byref(library), image, None, None, 0, None, None, 0)
    driver.call("cuLibraryGetKernel", pointer, ctypes.c_void_p, ctypes.c_char_p)(ctypes.byref(kernel), library, name.encode())
    driver.call("cuKernelGetFunction", pointer, ctypes.c_void_p)(ctypes.byref(function), kernel)
    return function.value


def launch(function, to, source, by, *more):
    args = [ctypes.c_uint64(to.data_ptr()), ctypes.c_uint64(source.data_ptr()), ctypes.c_uint(COUNT), ctypes.c_float(by), *more]
    params = (ctypes.c_void_p * len(args))(*[ctypes.addressof(one) for one in args])
    call = driver.call("cuLaunchKernel", ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
    call(function, 1, 1, 1, COUNT, 1, 1, 0, torch.cuda.current_stream().cuda_stream, params, None)
    return to


class Model(torch.nn.Module):
    """Two outputs: x * 3 + 2, which goes through a temporary, and a copy of the weight."""

    def __init__(self, first=0.0):
        super().__init__()
        self.weight = torch.nn.Parameter(tensor(first))
        self.register_buffer("scale", tensor(7.0))
        self.tied = self.weight
        self.kernels = None

    def forward(self, x):
        plus, times = self.kernels
        middle = launch(times, torch.empty_like(x), x, 3.0)
        return launch(plus, torch.empty_like(x), middle, 2.0), [torch.empty_like(x).copy_(self.weight)]


class Times(torch.autograd.Function):
    """x * 3 by a kernel of a library, and its gradient by another one; the gradient of the weight is the input that was kept."""
    @staticmethod
    def forward(context, x, weight, plus, times):
        context.kernels = plus, times
        kept = launch(times, torch.empty_like(x), x, 3.0)  # a temporary that the backward pass reads
        context.save_for_backward(kept)
        return launch(plus, torch.empty_like(x), kept, 1.0)

    @staticmethod
    def backward(context, given):
        kept, = context.saved_tensors
        plus, times = context.kernels
        return launch(times, torch.empty_like(given), given, 3.0), launch(plus, torch.empty_like(kept), kept, 5.0), None, None


class Trained(torch.nn.Module):
    def __init__(self, first=0.0):
        super().__init__()
        self.weight, self.kernels = torch.nn.Parameter(tensor(first)), None

    def forward(self, x):
        return Times.apply(x, self.weight, *self.kernels)


def values(one):
    torch.cuda.synchronize()
    return one.detach().cpu().tolist()


def expected(first):
    return [3.0 * (first + i) + 2.0 for i in range(COUNT)]


class Saved(Case):
    def setUp(self):
        super().setUp()
        # the other libraries' kernels, thousands in PTX, take a minute on softcuda, and the test has no use for them
        self.enterContext(unittest.mock.patch.object(gt._images, "_mapped", lambda: [IMAGES]))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "model.recipe")
        self.model = Model()
        self.model.kernels = kernel_of("image_plus", "plus"), kernel_of("image_times", "times")

    def elsewhere(self, program, *args):
        """What a new process prints, which has other memory at these addresses."""
        code = "import sys; sys.path.insert(0, %r)\nimport test_torch_saved as t\nt.%s(*sys.argv[1:])" % (os.path.dirname(__file__), program)
        done = subprocess.run([sys.executable, "-B", "-c", code, *args], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def test_a_new_process_has_its_weights_elsewhere(self):
        gt.save_graphed_callables(self.path, self.model, (self.x,))
        with open(self.path + ".json") as file:
            about = json.load(file)
        self.assertEqual([image["library"] for image in about["images"]], [os.path.basename(IMAGES)] * 2)
        self.assertEqual(len({hashlib.sha256(json.dumps(image).encode()).digest() for image in about["images"]}), 2)
        self.assertEqual(self.elsewhere("load_elsewhere", self.path, str(self.model.weight.data_ptr())), "loaded\n")

    def test_the_same_process(self):
        gt.save_graphed_callables(self.path, (self.model, lambda a: torch.empty_like(a).copy_(a)), ((self.x,), (self.y,)))
        other, self.given = Model(0.0), {first: tensor(first) for first in (2.0, 30.0, 4.0)}
        loaded, function = gt.load_graphed_callables(self.path, (other, None), check=True)
        self.assertIs(loaded, other)
        self.assertIs(type(loaded.forward.__closure__ and function), gph.GraphedCall)
        with torch.no_grad():
            one, [two] = loaded(tensor(5.0))
            self.assertEqual((values(one), values(two)), (expected(5.0), values(other.weight)))
            other.weight.copy_(tensor(50.0))  # in place: the graph reads it there
            self.assertEqual(values(loaded(self.x)[1][0]), values(tensor(50.0)))
            self.same(function(tensor(9.0)), 9.0)
            self.assertRaisesRegex(TypeError, "2 tensors are given, and it was saved with 1", function, self.x, self.x)
            with unittest.mock.patch.object(torch.Tensor, "copy_", side_effect=InterruptedError):  # the graph copies
                for first in (2.0, 30.0, 4.0):
                    self.assertEqual(values(loaded(self.given[first])[0]), expected(first))
        self.assertRaisesRegex(RuntimeError, "without a backward pass", loaded, self.x)
        other.weight.data = tensor(1.0)
        with torch.no_grad():
            self.assertRaisesRegex(gph.StateError, "memory was let go of", loaded, self.x)

    def pair(self, **options):
        model = Trained()
        model.kernels = self.model.kernels
        gt.save_graphed_callables(self.path, model, (self.x.requires_grad_(),), backward=True, **options)
        return model

    def test_a_backward_pass_in_a_new_process(self):
        model = self.pair()
        recipe = gph.Recipe.load(self.path)
        self.assertEqual([one["name"] for one in recipe.graphs], ["0.Trained", "0.Trained.backward"])
        self.assertTrue(all(one["has_check"] for one in recipe.graphs), recipe.graphs)
        self.assertEqual((model.weight.grad, self.x.grad), (None, None))
        self.assertEqual(self.elsewhere("train_elsewhere", self.path, str(model.weight.data_ptr())), "trained\n")

    def test_a_backward_pass_in_the_same_process(self):
        self.pair()
        self.enterContext(unittest.mock.patch.object(torch, "_foreach_copy_"))  # train() puts its own there
        train(self, gt.load_graphed_callables(self.path, Trained(), check=True))
        frozen = Trained().requires_grad_(False)
        self.assertRaisesRegex(ValueError, "parameter 0 of 0.Trained does not require a gradient, and was saved otherwise",
                               gt.load_graphed_callables, self.path, frozen)
        self.assertRaisesRegex(gph.FormatError, "has no graph", gt.load_graph, self.path, {})

    def step(self):
        """Of a counter and a state, in place, by way of a temporary; what it gives is read later."""
        plus, times = self.model.kernels
        middle = launch(times, torch.empty_like(self.x), self.x, 2.0)
        launch(plus, self.y, middle, 1.0)
        return {"twice": launch(times, torch.empty_like(self.y), self.y, 2.0), "state": self.y}

    def test_a_graph_of_named_tensors_in_a_new_process(self):
        before = values(self.x), values(self.y)
        gt.save_graph(self.path, self.step, {"x": self.x, "y": self.y})
        self.assertEqual((values(self.x), values(self.y)), before)  # though it ran
        self.assertEqual(self.elsewhere("replay_elsewhere", self.path, str(self.x.data_ptr())), "replayed\n")

    def test_modules_and_optimizers_are_named_tensors(self):
        model, plus = Model(5.0), self.model.kernels[0]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
        optimizer.state[model.weight]["momentum_buffer"] = tensor(2.0)

        def step():
            return launch(plus, model.weight, optimizer.state[model.weight]["momentum_buffer"], 1.0)
        gt.save_graph(self.path, step, {"model": model, "optimizer": optimizer})
        with open(self.path + ".json") as file:
            about = json.load(file)["graph"]
        self.assertEqual(sorted(about["tensors"]), ["model.scale", "model.tied", "model.weight", "optimizer.0.momentum_buffer"])
        self.same(model.weight, 5.0)
        other = Model(0.0)
        later = torch.optim.SGD(other.parameters(), lr=0.5, momentum=0.5)
        self.assertRaisesRegex(ValueError, "saved with a tensor optimizer.0.momentum_buffer, which is not there", gt.load_graph,
                               self.path, {"model": other, "optimizer": later})
        later.state[other.weight]["momentum_buffer"] = tensor(30.0)
        graph, result = gt.load_graph(self.path, {"model": other, "optimizer": later})
        graph.replay()
        self.same(other.weight, 31.0)
        self.assertEqual(result.data_ptr(), other.weight.data_ptr())
        self.same(model.weight, 5.0)
        graph.reset()
        self.assertRaisesRegex(RuntimeError, "without a preceding successful capture", graph.replay)

    def test_a_named_tensor_that_died_ends_the_replays(self):
        gt.save_graph(self.path, self.step, {"x": self.x, "y": self.y})
        other = tensor(1.0)
        graph, _ = gt.load_graph(self.path, {"x": other, "y": self.y})
        graph.replay()
        other.data = tensor(2.0)
        self.assertRaisesRegex(gph.StateError, "memory was let go of", graph.replay)

    def test_what_no_name_was_given_for_is_refused(self):
        for tensors in ({"x": self.x}, {"y": self.y}):
            with self.assertRaisesRegex(gph.UnsupportedError, "cannot be saved: node [0-9]+: |output 1 is not a tensor"):
                gt.save_graph(self.path, self.step, tensors)
            self.assertEqual(os.listdir(os.path.dirname(self.path)), [])
        self.assertRaisesRegex(TypeError, "z is neither a CUDA tensor", gt.save_graph, self.path, self.step, {"z": 3})

    def test_bytes_of_arguments_that_nobody_sets(self):
        """As PyTorch's kernels have them on a GPU: padding of structures, what the stack had there."""
        kernel, left = loaded_by_others(UNSET, b"unset"), iter(range(1, 1000))

        def step():
            number = next(left)
            rest = (ctypes.c_uint64 * 3)(number << 32 | 64, 0x7ffc00000000 + 8 * number, self.y.data_ptr())
            return launch(kernel, self.y, self.x, 4.0, rest)
        before = values(self.y)
        gt.save_graph(self.path, step, {"x": self.x, "y": self.y}, images=[UNSET.encode()])
        self.assertEqual(values(self.y), before)
        self.assertEqual(gph.Recipe.load(self.path).graphs[0]["pointer_count"], 3)
        self.assertEqual(self.elsewhere("replay_mine", self.path), "mine\n")
        recipe, one, two = gph.Recipe(), gt.CUDAGraph(keep_graph=True), gt.CUDAGraph(keep_graph=True)
        for graph in (one, two):
            with gt.graph(graph):
                step()
        recipe.range("x", self.x.data_ptr(), 4 * COUNT)
        recipe.range("y", self.y.data_ptr(), 4 * COUNT)
        recipe.add(driver.runtime(), "not asked for", one.raw_cuda_graph(), shifted=two.raw_cuda_graph(),
                   identify=lambda function: (hashlib.sha256(UNSET.encode()).digest(), "unset"))
        self.assertIn("and is in no range (byte 24 of the arguments of unset)", recipe.graphs[0]["refusals"][0]["why"])

    def test_bytes_that_the_stack_had(self):
        """As before, but of memory that is there and in no range, the same in both captures: it was on the stack."""
        kernel, images, old = loaded_by_others(UNSET, b"unset"), ctypes.CDLL(IMAGES), tensor()
        cu_launch = ctypes.c_void_p(driver.runtime().find("cuLaunchKernel"))
        library = torch.library.Library("gph_padded", "DEF")
        self.addCleanup(library._destroy)
        library.define("launch(Tensor(a!) to, Tensor source) -> ()")

        def padded(to, source):
            with_ = (ctypes.c_uint64 * 5)(kernel, torch.cuda.current_stream().cuda_stream, to.data_ptr(), source.data_ptr(),
                                          struct.unpack("<Q", struct.pack("<If", COUNT, 4.0))[0])
            self.assertEqual(images.launch_padded(cu_launch, with_), 0)
        library.impl("launch", padded, "CUDA")

        def launch_after_others():
            images.leave(ctypes.c_uint64(old.data_ptr()))
            torch.ops.gph_padded.launch(self.y, self.x)
            return self.y

        class Later(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return torch.empty_like(x)

            @staticmethod
            def backward(context, given):
                launch_after_others()
                return torch.empty_like(given)

        def on_autograds_thread():
            x = torch.empty_like(self.x).requires_grad_()
            torch.autograd.grad(Later.apply(x), x, torch.empty_like(x))
            return self.y
        for step in (launch_after_others, on_autograds_thread):
            named = {"x": self.x, "y": self.y}
            with self.subTest(step.__name__):
                with unittest.mock.patch.object(gt._saved._gph, "_fill_stack", lambda byte: True):
                    self.assertRaisesRegex(gph.UnsupportedError, r"is device memory outside every range \(byte (24|32|40) of",
                                           gt.save_graph, self.path, step, named, images=[UNSET.encode()])
                gt.save_graph(self.path, step, named, images=[UNSET.encode()])
                self.assertEqual(self.elsewhere("replay_mine", self.path), "mine\n")
        self.assertTrue(gt._saved._gph._fill_stack(0))
        self.assertRaisesRegex(ValueError, "byte is 256, not 0 to 255", gt._saved._gph._fill_stack, 256)

    def test_images_that_the_program_has(self):
        """As NVRTC's and Triton's, which no library has."""
        program = PLUS.replace("jit", "mine")
        kernel = loaded_by_others(program, b"mine")

        def step():
            return launch(kernel, self.y, self.x, 4.0)
        self.assertRaisesRegex(gph.UnsupportedError, "step cannot be saved: node 0: kernel mine: no library", gt.save_graph,
                               self.path, step, {"x": self.x, "y": self.y})
        gt.save_graph(self.path, step, {"x": self.x, "y": self.y}, images=[JIT.encode(), program.encode()])
        self.assertEqual(self.elsewhere("replay_mine", self.path), "mine\n")

    def test_other_weights_do_not_pass_the_check(self):
        gt.save_graphed_callables(self.path, self.model, (self.x,))
        other = Model(1.0)
        before = other.forward
        self.assertRaisesRegex(gph.Error, "was not loaded", gt.load_graphed_callables, self.path, other)
        self.assertEqual(other.forward, before)
        loaded = gt.load_graphed_callables(self.path, other, check=False)
        with torch.no_grad():
            self.assertEqual(values(loaded(self.x)[1][0]), values(other.weight))

    def test_weights_that_do_not_fit_are_named(self):
        gt.save_graphed_callables(self.path, self.model, (self.x,))
        load = gt.load_graphed_callables
        short, half, untied, bare = Model(), Model(), Model(), torch.nn.Linear(2, 2)
        short.weight = torch.nn.Parameter(tensor()[:5])
        half.scale = torch.empty(COUNT, dtype=torch.float16, device="cuda")
        untied.tied = torch.nn.Parameter(tensor())
        for module, text in ((short, r"tensor weight of 0.Model has shape \[5\], and was saved with \[64\]"),
                             (half, "tensor scale of 0.Model has dtype float16, and was saved with float32"),
                             (untied, "tensor tied of 0.Model was saved as another one's memory"),
                             (bare, "a tensor weight, which is not there"),
                             ((Model(), Model()), "2 callables are given, and .* has 1"),
                             (Model().eval(), "was saved in training mode")):
            self.assertRaisesRegex(ValueError, text, load, self.path, module)

    def test_what_cannot_be_saved_is_refused(self):
        hidden = tensor(3.0)
        jit = driver.runtime().module(JIT)  # libgph's own modules are known by their image, and must be loaded again
        twin = kernel_of("image_one", "twin")

        self.own = loaded_by_others(JIT.replace("jit", "own"), b"own")
        for function, text in ((lambda a: torch.empty_like(a).copy_(hidden), "outside|memory"),
                               (lambda a: launch(twin, torch.empty_like(a), a, 1.0), 
                                "kernel twin: 2 images of .* have a kernel of that name, and differ: images="),
                               (lambda a: launch(self.own, torch.empty_like(a), a, 1.0), "kernel own: no library that is loaded"),
                               (lambda a: (a + 0, 3)[1], "output 0 is not a tensor")):
            with self.assertRaisesRegex(gph.UnsupportedError, text):
                gt.save_graphed_callables(self.path, function, (self.x,))
            self.assertEqual(os.listdir(os.path.dirname(self.path)), [])
        del jit
        self.assertRaisesRegex(TypeError, "more than CUDA tensors", gt.save_graphed_callables, self.path, lambda a: a, (3,))

    def test_images_of_the_same_code_are_one(self):
        """As PyTorch's im2col, which is compiled for two source files."""
        for name in ("image_again", "image_same"):
            same = kernel_of(name, "same")
            gt.save_graphed_callables(self.path, lambda a: launch(same, torch.empty_like(a), a, 2.0), (self.x,))
            loaded = gt.load_graphed_callables(self.path, lambda a: None)
            self.assertEqual(values(loaded(self.x)), [value + 2.0 for value in values(self.x)])

    def test_another_version_of_the_library_is_refused(self):
        gt.save_graphed_callables(self.path, self.model, (self.x,))
        with open(self.path + ".json") as file:
            about = json.load(file)
        for field, value, text in (("sha256", "0" * 64, "is another version than the one that it was saved with"),
                                   ("library", "libabsent.so", "its kernels are in libabsent.so, which this process has not")):
            wrong = json.loads(json.dumps(about))
            wrong["images"][0][field] = value
            with open(self.path + ".json", "w") as file:
                json.dump(wrong, file)
            self.assertRaisesRegex(gph.UnsupportedError, text, gt.load_graphed_callables, self.path, Model())
        with open(self.path + ".json", "w") as file:
            json.dump({"format": 1}, file)
        self.assertRaisesRegex(gph.FormatError, "format 1, and this version reads 2", gt.load_graphed_callables, self.path, Model())

    def test_identify_is_checked(self):
        recipe, runtime = gph.Recipe(), driver.runtime()
        graph = gt.CUDAGraph(keep_graph=True)
        with gt.graph(graph):
            launch(self.model.kernels[0], self.y, self.x, 1.0)
        add = recipe.add
        self.assertRaises(TypeError, add, runtime, "a", graph.raw_cuda_graph(), identify=3)
        add(runtime, "none", graph.raw_cuda_graph(), identify=lambda function: None)
        self.assertIn("did not load", recipe.graphs[-1]["refusals"][0]["why"])
        for index, (function, error) in enumerate(((lambda function: (b"x" * 33, "plus"), ValueError),
                                                   (lambda function: 3, TypeError), (lambda function: 1 // 0, ZeroDivisionError))):
            self.assertRaises(error, add, runtime, "wrong %d" % index, graph.raw_cuda_graph(), identify=function)
        for graph_of in recipe.graphs:
            self.assertTrue(graph_of["refusals"])


class Images(unittest.TestCase):
    """What is read of fat binaries without the driver."""
    TEXT = b".version 7.0\n.visible .entry first()\n.visible .entry second$1(.param .u64 x)\n"

    def image(self, payload, flags, plain=0, packed=0, kind=1):
        entry = struct.pack("<HHIQIIIIIIQQQ", kind, 0x101, 64, len(payload), packed, 0, 0, 90, 0, 0, flags, 0, plain) + payload
        return struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(entry)) + entry

    def test_names_are_found_in_text(self):
        self.assertEqual(gt._images._symbols(self.image(self.TEXT, 0x11)), b"first\nsecond$1")
        self.assertEqual(gt._images._symbols(self.image(b"\x7fELF short", 0x11, kind=2))[:5], b"")
        self.assertIsNone(gt._code.section(b"\x7fELF\x02" + bytes(20), b".strtab"))

    def packed(self, content):
        try:
            zstd = ctypes.CDLL("libzstd.so.1")
        except OSError:
            self.skipTest("libzstd.so.1 is not installed")
        room = ctypes.create_string_buffer(1000)
        zstd.ZSTD_compress.restype = ctypes.c_size_t
        size = zstd.ZSTD_compress(room, ctypes.c_size_t(1000), content, ctypes.c_size_t(len(content)), 3)
        return room.raw[:size]

    def code(self, number, text=b"code", place=8, registers=9, at=0, bank=b"\1\2"):
        """Machine code of a source file with this number, which is in a name and moves the numbers of symbols."""
        symbols = b"\0_INTERNAL_%d_seq\0" % number
        table = bytes(24 * number) + struct.pack("<IBBHQQ", 1, 0, 0, 1, place, 4)
        info = struct.pack("<BBHIHH", 4, 0x0a, 8, number, 0x210, 32) + struct.pack("<BBH", 3, 0x19, 32)
        sections = {"nv.global": bytes(16), "text.k": text, "nv.info.k": info, "nv.constant4": bank, "symtab": table, "strtab": symbols,
                    "rela.nv.constant4": struct.pack("<QQq", at, number << 32 | 2, 0)}
        file = bytearray(self.elf(0x5a055a, 7, **sections))
        start, = struct.unpack_from("<Q", file, 40)
        struct.pack_into("<I", file, start + 64 + 44, registers << 24 | number)
        return bytes(file)

    def test_code_is_compared_without_what_is_a_source_files_own(self):
        of, one = gt._code.of, self.code(1)
        self.assertEqual(of(one), of(self.code(2)))
        for other in ({"text": b"cod2"}, {"place": 4}, {"registers": 8}, {"at": 8}, {"bank": b"\1\3"}):
            self.assertNotEqual(of(one), of(self.code(2, **other)), other)
        for nothing in (b"", one[:70], self.elf(0x5a055a, 7), self.elf(0, 7, strtab=b"\0gemm\0")):
            self.assertIsNone(of(nothing))

    def elf(self, flags, version, **sections):
        """An ELF file for CUDA with these sections, and one of names."""
        names, rows, content = b"\0", [], b""
        for name, bytes_ in (*sections.items(), ("shstrtab", b"")):
            if name == "shstrtab":
                bytes_ = names + b".shstrtab\0"
            rows.append(struct.pack("<IIQQQQIIQQ", len(names), 8 if name == "ldata" else 1, 0, 0, 64 + len(content), len(bytes_), 0, 0, 1, 0))
            names += b".%s\0" % name.encode()
            content += bytes_
        head = b"\x7fELF\x02\x01\x01\x41" + bytes([version]) + bytes(7)
        return head + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(content), flags, 64, 0, 0, 64, len(rows),
                                  len(rows) - 1) + content + b"".join(rows)

    def test_machine_code_that_a_library_packs_itself_is_found(self):
        """As in libcublasLt.so.13: for each GPU a frame, in a section that says that the file has nothing of it."""
        codes = [self.elf(0x500550, 7, strtab=b"\0gemm\0"), self.elf(0x5a055a, 7, strtab=b"\0gemm\0more\0"),
                 self.elf(0x6006402, 8, strtab=b"\0gemm\0last\0")]
        frames = [self.packed(code) for code in codes]
        fat = self.image(self.TEXT, 0x11)
        magic = b"\x28\xb5\x2f\xfd"  # alone it is data
        whole = self.elf(0, 7, nv_fatbin=fat, cask_resource=bytes(8) + fat, ldata=magic + b"\xff" * 20 + b"--".join(frames) + magic)
        images = gt._images
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(images, "_major", lambda: 9):
            path = os.path.join(folder, "libmade.so")
            with open(path, "wb") as file:
                file.write(whole)
            found = images._images_of(path)
            self.assertEqual([image.read() for image in found], [fat, fat, *codes])
            self.assertEqual([images._architecture(code) for code in (*codes, fat)], [80, 90, 100, 0])
            self.assertEqual([image.can_have("gemm") for image in found], [False, False, False, True, False])
            self.assertEqual([image.can_have("first") for image in found], [True, True, False, False, False])
            about = {"library": "libmade.so", "offset": found[3].offset, "bytes": found[3].bytes, "plain": found[3].plain,
                     "sha256": hashlib.sha256(codes[1]).hexdigest()}
            with unittest.mock.patch.object(images, "_mapped", lambda: [path]):
                self.assertEqual(images.image_in(about), codes[1])
                self.assertRaisesRegex(LookupError, "another version", images.image_in, {**about, "plain": found[3].plain - 1})

    def test_names_are_found_in_what_is_compressed(self):
        packed = self.packed(self.TEXT)
        size = len(packed)
        packed += bytes(-size % 8)
        symbols = gt._images._symbols
        self.assertEqual(symbols(self.image(packed, 0x8011, len(self.TEXT), size)), b"first\nsecond$1")
        self.assertIsNone(symbols(self.image(b"x" * 40, 0x8011, 200, 40)))
        with unittest.mock.patch.object(gt._images, "_unpacker", lambda flag: None):
            self.assertIsNone(symbols(self.image(packed, 0x8011, len(self.TEXT), size)))


JIT = """.version 7.0
.target sm_70
.address_size 64
.visible .entry jit(.param .u64 to, .param .u64 from, .param .u32 count, .param .f32 by)
{
    ret;
}
"""


PLUS = """.version 7.0
.target sm_70
.address_size 64
.visible .entry jit(.param .u64 to, .param .u64 from, .param .u32 count, .param .f32 by)
{
    .reg .f32 %f<4>; .reg .b32 %r<2>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.f32 %f1, [by];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
    ld.global.f32 %f2, [%d2]; add.f32 %f3, %f2, %f1; st.global.f32 [%d1], %f3;
    ret;
}
"""


UNSET = PLUS.replace("jit", "unset").replace(".param .f32 by)", ".param .f32 by, .param .align 8 .b8 rest[24])")


def loaded_by_others(program, name):
    """A CUfunction of a module that neither libgph nor a library has."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    pointer = ctypes.POINTER(ctypes.c_void_p)
    driver.call("cuModuleLoadData", pointer, ctypes.c_char_p)(ctypes.byref(module), program.encode())
    driver.call("cuModuleGetFunction", pointer, ctypes.c_void_p, ctypes.c_char_p)(ctypes.byref(function), module, name)
    return function.value


def train(case, model):
    """Forward and backward passes of a Trained that was loaded."""
    torch._foreach_copy_ = lambda targets, sources: [a.copy_(b) for a, b in zip(targets, sources)]  # a kernel does it: tests/gpu
    for call, first in enumerate((4.0, 40.0, 7.0)):
        x = tensor(first).requires_grad_()
        out = model(x)
        case.assertEqual(values(out), [3.0 * (first + i) + 1.0 for i in range(COUNT)])
        model.weight.grad = None
        out.backward(tensor(float(call)))
        case.assertEqual(values(x.grad), [3.0 * (call + i) for i in range(COUNT)])
        case.assertEqual(values(model.weight.grad), [3.0 * (first + i) + 5.0 for i in range(COUNT)])
    with torch.no_grad():
        case.assertEqual(values(model(tensor(2.0))), [3.0 * (2.0 + i) + 1.0 for i in range(COUNT)])


def train_elsewhere(path, address):
    ctypes.CDLL(IMAGES)
    keep = [tensor() for _ in range(9)]
    model = Trained(3.0)
    assert model.weight.data_ptr() != int(address)
    train(unittest.TestCase(), gt.load_graphed_callables(path, model, check=True))
    del keep
    print("trained")


def replay_elsewhere(path, address):
    ctypes.CDLL(IMAGES)
    keep = [tensor() for _ in range(9)]
    x, y = tensor(10.0), tensor()
    assert x.data_ptr() != int(address)
    graph, result = gt.load_graph(path, {"y": y, "x": x})
    for first in (10.0, 20.0):
        x.copy_(tensor(first))
        graph.replay()
        assert values(y) == [2 * (first + i) + 1 for i in range(COUNT)], values(y)
        assert values(result["twice"]) == [2 * one for one in values(y)] and values(result["state"]) == values(y)
    del keep
    print("replayed")


def replay_mine(path):
    keep = [tensor() for _ in range(9)]
    x, y = tensor(10.0), tensor()
    graph, result = gt.load_graph(path, {"y": y, "x": x})
    graph.replay()
    assert values(result) == values(tensor(14.0)), values(result)
    del keep
    print("mine")


def load_elsewhere(path, address):
    ctypes.CDLL(IMAGES)
    keep = [tensor() for _ in range(9)]
    model = Model()
    assert model.weight.data_ptr() != int(address)
    loaded = gt.load_graphed_callables(path, model, check=True)
    with torch.no_grad():
        for first in (4.0, 40.0):
            one, [two] = loaded(tensor(first))
            assert values(one) == expected(first), values(one)
            assert values(two) == values(tensor()), values(two)
    del keep
    print("loaded")


if __name__ == "__main__":
    unittest.main(verbosity=1)
