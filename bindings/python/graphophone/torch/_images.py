# SPDX-License-Identifier: Apache-2.0
"""Kernels of libraries by names that mean the same in every process: the hash of the image that they are in, and their name.

The CUDA runtime loads the images that a library brings (its section .nv_fatbin) and keeps them to itself: no call of the driver
leads from a kernel back to its image. But the library's file has them, and which one it is shows in the names of its kernels:

    kernel  ->  its module's names (cuModuleEnumerateFunctions)  ==  an image's names (cuLibraryEnumerateKernels)  ->  its hash

cuBLASLt unpacks some of its images itself, one for each GPU, each a frame of zstd: CUTLASS's in its section .ldata.

What is in no library (Triton's kernels, NVRTC's, cuBLASLt's nvjet_...) is not found, and neither is what two images could be whose
code differs. (Of PyTorch's 444 images two have the same kernels: those of im2col.h, in two source files, whose code is the same.)"""
import base64
import ctypes
import functools
import hashlib
import mmap
import os
import re
import struct

import torch

from . import _code, _driver

_FATBIN = 0xba55ed50
_FRAME = b"\x28\xb5\x2f\xfd"  # begins what zstd packed
_LZ4, _ZSTD = 0x2000, 0x8000  # flags of an entry: how it is compressed
_POINTER = ctypes.POINTER(ctypes.c_void_p)


def _mapped():
    """The files that this process has mapped, of shared libraries."""
    with open("/proc/self/maps") as file:
        paths = {line.split(None, 5)[5].rstrip("\n") for line in file if line.count("/") and ".so" in line}
    return sorted(path for path in paths if os.path.isfile(path))


@functools.cache
def _unpacker(flag):
    """A function (packed, bytes when unpacked) -> bytes by the system's library; None without it."""
    try:
        library = ctypes.CDLL("libzstd.so.1" if flag == _ZSTD else "liblz4.so.1")
    except OSError:
        return None
    size = ctypes.c_size_t if flag == _ZSTD else ctypes.c_int

    def unpack(packed, bytes_):
        room = ctypes.create_string_buffer(bytes_)
        if flag == _ZSTD:
            library.ZSTD_decompress.restype = ctypes.c_size_t
            done = library.ZSTD_decompress(room, size(bytes_), packed, size(len(packed)))
        else:
            done = library.LZ4_decompress_safe(packed, room, size(len(packed)), size(bytes_))
        return room.raw if done == bytes_ else None
    return unpack


@functools.cache
def _major():
    return torch.cuda.get_device_capability()[0]


def _parts(image):
    """(whether it is PTX, content) of each part of a fat binary that GPUs of this major version may run; the content is None where it
    could not be unpacked."""
    if len(image) < 16 or image[:4] != struct.pack("<I", _FATBIN):
        return
    _, _, at, _ = struct.unpack_from("<IHHQ", image, 0)
    while at + 64 <= len(image):
        head, bytes_, packed = struct.unpack_from("<IQI", image, at + 4)
        architecture, = struct.unpack_from("<I", image, at + 28)
        flags, = struct.unpack_from("<Q", image, at + 40)
        plain, = struct.unpack_from("<Q", image, at + 56)
        is_ptx = image[at] == 1  # which is for later GPUs, too
        if architecture // 10 == _major() or is_ptx:
            flag = flags & (_LZ4 | _ZSTD)
            unpack = _unpacker(flag) if flag in (_LZ4, _ZSTD) else None
            content = image[at + head:at + head + (packed or bytes_)]
            yield is_ptx, content if not flag else unpack(content, plain) if unpack else None
        at += head + bytes_


def _symbols(image):
    """The text that has the names of an image's kernels for GPUs of this major version: tables of symbols of machine code,
    entries of PTX. None where a part could not be unpacked. The driver takes a second for a hundred images; this, for some
    hundreds."""
    texts = []
    for is_ptx, whole in _parts(image):
        if whole is None:
            return None
        found = None if is_ptx else _code.section(whole, b".strtab")
        texts.append(b"\n".join(re.findall(rb"\.entry\s+([\w$]+)", whole)) if is_ptx else
                     whole[found[0]:found[0] + found[1]] if found else b"")
    return b"\n".join(texts)


def _are_same(images):
    """Whether kernels of a name are the same code in all of these, so that each will do."""
    first = None
    for image in images:
        whole = image.read()
        parts = [(False, whole)] if _architecture(whole) else list(_parts(whole))
        code = [content if is_ptx or content is None else _code.of(content) for is_ptx, content in parts]
        if not code or None in code or first not in (None, code):
            return False
        first = code
    return True


class Image:
    """A fat binary in a library's file, or with `plain` bytes machine code that zstd packed."""

    def __init__(self, path, offset, bytes_, plain=0):
        self.path, self.offset, self.bytes, self.plain = path, offset, bytes_, plain
        self._names = None

    @functools.cached_property
    def symbols(self):
        if not self.plain:
            return _symbols(self.read())
        whole = self.read()
        table = _code.section(whole, b".strtab")
        return whole[table[0]:table[0] + table[1]] if table and _architecture(whole) // 10 == _major() else b""

    def can_have(self, name):
        return self.symbols is None or name.encode() in self.symbols

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            content = file.read(self.bytes)
        unpack = _unpacker(_ZSTD) if self.plain else None
        return (unpack(content, self.plain) if unpack else None) or b"" if self.plain else content

    def hash(self):
        return hashlib.sha256(self.read()).digest()

    def about(self, digest):
        """For image_in()."""
        return {"library": os.path.basename(self.path), "offset": self.offset, "bytes": self.bytes, "plain": self.plain, "sha256": digest}

    def names(self):
        """Of its kernels, a set; empty where it has none for this GPU."""
        if self._names is None:
            try:
                self._names = _names_of(self.read())
            except RuntimeError:
                self._names = frozenset()
        return self._names


class Given(Image):
    """An image that the program has: a cubin, a fat binary, or PTX."""

    def __init__(self, content):
        super().__init__("images that were given", 0, len(content))
        self._content = bytes(content)

    def can_have(self, name):
        return True

    def read(self):
        return self._content

    def about(self, digest):
        return {"content": base64.b64encode(self._content).decode(), "sha256": digest}


def _fat_in(path, file, at, end):
    while at + 16 <= end:
        magic, _, head, rest = struct.unpack_from("<IHHQ", file, at)
        if magic == _FATBIN:
            yield Image(path, at, head + rest)
        at += head + rest + -(head + rest) % 8 if magic == _FATBIN else 8


def _architecture(image):
    """Of machine code, as in sm_90; 0 of anything else. The flags of its ELF file have it in one of two places."""
    if len(image) < 64 or image[:5] != b"\x7fELF\x02" or image[18:20] != b"\xbe\0":  # EM_CUDA
        return 0
    flags, = struct.unpack_from("<I", image, 48)
    return flags >> 8 & 0xff if image[8] >= 8 else flags & 0xff  # from the 8th version of its ABI


def _packed_in(path, file, at, end):
    """Frames of zstd, whose first bytes are not worth looking at: the four of the magic number occur elsewhere, too."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return
    bytes_of, plain_of = library.ZSTD_findFrameCompressedSize, library.ZSTD_getFrameContentSize
    bytes_of.restype, plain_of.restype = ctypes.c_size_t, ctypes.c_ulonglong
    while (at := file.find(_FRAME, at, end)) >= 0:
        most = file[at:min(end, at + (8 << 20))]
        bytes_, plain = bytes_of(most, ctypes.c_size_t(len(most))), plain_of(most, ctypes.c_size_t(len(most)))
        is_whole = bytes_ <= len(most) and 64 <= plain < 1 << 30
        if is_whole:
            yield Image(path, at, bytes_, plain)
        at += bytes_ if is_whole else 4


def _images_of(path):
    images = []
    try:
        with open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as file:
            for name, search in ((b".nv_fatbin", _fat_in), (b".cask_resource", _fat_in), (b".ldata", _packed_in)):
                at, bytes_ = _code.section(file, name) or (0, 0)
                images.extend(search(path, file, at, min(at + bytes_, len(file))))
    except (OSError, ValueError):  # it is gone, or empty
        return []
    return images


def _text(call, handle):
    name = ctypes.c_char_p()
    _driver.call(call, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p)(ctypes.byref(name), handle)
    return name.value.decode()


def _names_of(image):
    library, count = ctypes.c_void_p(), ctypes.c_uint()
    nothing = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
    _driver.call("cuLibraryLoadData", _POINTER, ctypes.c_char_p, *nothing, *nothing)(
        ctypes.byref(library), image, None, None, 0, None, None, 0)
    try:
        _driver.call("cuLibraryGetKernelCount", ctypes.POINTER(ctypes.c_uint), ctypes.c_void_p)(ctypes.byref(count), library)
        kernels = (ctypes.c_void_p * max(1, count.value))()
        if count.value:
            _driver.call("cuLibraryEnumerateKernels", ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p)(kernels, count.value, library)
        return frozenset(_text("cuKernelGetName", kernel) for kernel in kernels[:count.value])
    finally:
        _driver.call("cuLibraryUnload", ctypes.c_void_p)(library)


def _names_beside(function):
    """Of all kernels in the module of a CUfunction."""
    module, count = ctypes.c_void_p(), ctypes.c_uint()
    _driver.call("cuFuncGetModule", _POINTER, ctypes.c_void_p)(ctypes.byref(module), function)
    _driver.call("cuModuleGetFunctionCount", ctypes.POINTER(ctypes.c_uint), ctypes.c_void_p)(ctypes.byref(count), module)
    functions = (ctypes.c_void_p * max(1, count.value))()
    _driver.call("cuModuleEnumerateFunctions", ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p)(functions, count.value, module)
    return frozenset(_text("cuFuncGetName", one) for one in functions[:count.value])


class Finder:
    """What Recipe.add(identify=...) is given. `used` has the images that it found, by hash; `unknown` why others were not."""

    def __init__(self, images=()):
        self.used, self.unknown = {}, {}
        self._given = [Given(image) for image in images]
        self._libraries = None  # path: images
        self._known = {}  # names of a module: (hash or None, why not)

    def _find(self, names):
        if self._libraries is None:
            self._libraries = sorted((images for images in map(_images_of, _mapped()) if images), key=len)  # the small ones are quick
        longest = max(names, key=len)  # the one that says most
        for images in [self._given, *self._libraries]:
            alike = {}
            for image in images:
                if image.can_have(longest) and image.names() == names:
                    alike.setdefault(image.hash(), image)
            if len(alike) > 1 and not _are_same(alike.values()):
                return None, "%d images of %s have a kernel of that name, and differ: images=[...] with the right one decides" % (
                    len(alike), images[0].path)
            for digest, image in alike.items():
                self.used[digest] = image
                return digest, None
        return None, ("cuBLASLt generates it at run time, and keeps no image of it" if any(name.startswith("nvjet_") for name in names) else
                      "no library that is loaded has it in an image that can be read: it was compiled by the program, as "
                      "Triton's and NVRTC's are")

    def __call__(self, function):
        name, names = _text("cuFuncGetName", function), _names_beside(function)
        if names not in self._known:
            self._known[names] = self._find(names)
        digest, why = self._known[names]
        if digest is None:
            self.unknown[name] = why
            return None
        return digest, name


def image_in(about):
    """The bytes of an image that was saved as {library, offset, bytes, plain, sha256}, of a library of this process, or as {content,
    sha256}. Raises LookupError with a sentence."""
    if "content" in about:
        return base64.b64decode(about["content"])
    paths = [path for path in _mapped() if os.path.basename(path) == about["library"]]
    if not paths:
        raise LookupError("its kernels are in %s, which this process has not loaded" % about["library"])
    image = Image(paths[0], about["offset"], about["bytes"], about["plain"]).read()
    if hashlib.sha256(image).hexdigest() != about["sha256"]:
        raise LookupError("%s is another version than the one that it was saved with" % paths[0])
    return image
