# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CPU tensors on softcuda, read by the C table of their type (DLPack 1.3); skipped without PyTorch."""
import sys

from common import COUNT, Case, gph, is_soft, main, values_of

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
if not is_soft or not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    print("skipped: PyTorch %s on %s has no table for this" % (torch.__version__, "softcuda" if is_soft else "a GPU"))
    sys.exit(77)

TYPES = {torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
         torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
         torch.complex64: "c64", torch.complex128: "c128", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
         torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2"}


class Exchange(Case):
    def record(self, sample):
        return self.runtime.callable(lambda call, x: self.put(self.y, self.x, stream=call.stream), (sample,),
                                     pool=self.pool, stream=self.stream, modes="static")

    def test_every_element_type_is_known(self):
        for theirs, ours in TYPES.items():
            with self.subTest(ours):
                tensor = torch.zeros((2, 3), dtype=theirs)
                step = self.record(self.runtime.tensor(tensor.data_ptr(), (2, 3), ours, owner=tensor))
                self.assertEqual(step.check(tensor), [])
                back = torch.from_dlpack(self.pool.tensor((2, 3), ours, stream=self.stream))
                self.assertEqual((back.dtype, tuple(back.shape)), (theirs, (2, 3)))

    def test_every_layout_is_known(self):
        base = torch.arange(60, dtype=torch.float32).reshape(3, 4, 5)
        for view in (base[:, 1:, ::2], base.permute(2, 0, 1), base[1, 2, 3], base[0].expand(2, 4, 5),
                     torch.nn.Parameter(base)[1]):
            step = self.record(self.runtime.tensor(view.data_ptr(), tuple(view.shape), "f32", strides=view.stride(),
                                                   owner=base))
            self.assertEqual(step.check(view.detach()), [])

    def test_a_class_that_derives_is_read_the_same_way(self):
        class Mine(torch.Tensor):
            pass

        for tensor in (torch.zeros(COUNT).as_subclass(Mine), torch.nn.Parameter(torch.zeros(COUNT), requires_grad=False)):
            step = self.record(self.runtime.tensor(tensor.data_ptr(), COUNT, "f32", owner=tensor))
            self.assertEqual(step.check(tensor), [])

    def test_replays_work_on_their_memory(self):
        x, y = torch.arange(float(COUNT)), torch.zeros(COUNT)
        with self.runtime.capture(self.stream) as capture:
            self.put(y, x, 5.0)
        replay = capture.recording.instantiate()
        x += 1
        replay(self.stream)
        self.stream.synchronize()
        self.assertEqual(y.tolist(), [i + 6.0 for i in range(COUNT)])
        self.assertEqual(values_of(self.x)[1], 1.0)

    def test_what_has_no_memory_is_refused(self):
        for wrong in (torch.zeros(3, device="meta"), torch.zeros(3).to_sparse(), torch.zeros((1,) * 9),
                      torch.quantize_per_tensor(torch.zeros(3), 1.0, 0, torch.quint8)):
            with self.assertRaises((gph.Error, RuntimeError, ValueError, BufferError, TypeError)):
                self.put(self.y, wrong)

    def test_views_that_are_not_what_lies_there_are_refused(self):
        """Of a conjugate or a negative PyTorch keeps a bit alone, which DLPack's table does not give."""
        base = torch.complex(torch.arange(float(COUNT)), torch.ones(COUNT))
        step = self.record(self.runtime.tensor(base.data_ptr(), COUNT, "c64", owner=base))
        self.assertEqual(step.check(base), [])
        with self.assertRaisesRegex(gph.Error, r"is a conjugate view.*resolve_conj\(\)"):
            step.check(base.conj())
        self.assertEqual(step.check(base.conj().conj()), [])
        step.check(base.conj().resolve_conj())
        for view in (base.conj().imag, torch._neg_view(torch.ones(3)), base.conj().imag[0], torch._neg_view(base)):
            with self.assertRaisesRegex(gph.Error, r"is a negative view.*resolve_neg\(\)"):
                self.put(self.y, view)
        plain = torch._neg_view(torch.ones(COUNT)).resolve_neg()
        self.put(self.y, plain, 3.0)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y), [2.0] * COUNT)


if __name__ == "__main__":
    main()
