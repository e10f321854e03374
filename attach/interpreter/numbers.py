# SPDX-License-Identifier: Apache-2.0
"""Run inside the program by numbers.c: which numbers Python code reads while work is captured, and what they
are when the graph is launched. A graph has the numbers that were passed to its kernels; a program that changes
them afterwards may think that it has the new ones.

Only floats, and `training` of modules: other numbers are sizes and counts, which change for many reasons.
Nothing of the program's is kept alive, no code of it is run (attributes are looked up in dictionaries)."""
import dis
import marshal
import sys
import types
import weakref

WATCHES_MAX, CAPTURES_MAX, REPORTS_MAX, CHAIN_MAX = 2048, 256, 24, 4
LATER = 0x2A0  # code of generators and coroutines, which return more than once
RATES = ("p", "dropout", "momentum")  # what makes a mode matter to a module of PyTorch
LIBRARY = ("/site-packages/", "/dist-packages/")
OPTIMIZED = 3  # code of functions, whose variables have places
NONE = object()
DICT, MRO, NAME = (type.__dict__[name].__get__ for name in ("__dict__", "__mro__", "__name__"))
SLOTS = (types.GetSetDescriptorType, types.MemberDescriptorType)

studied = {}    # id of a code object: it, and the chains that it reads, as bytes: what the collector counts is little
captures = {}   # number of a capture: its watches
running = None  # watches of the capture that is open


class Watch:
    __slots__ = ("holder", "path", "name", "before", "now", "reported", "since", "label", "place", "key")


def chains_of(code):
    """(offset, line, kind of the root, its name, steps): "x.y" has the step ("y", False), x["y"] the step ("y", True)."""
    found, stored, now, key, line = [], set(), None, None, code.co_firstlineno
    for at in dis.get_instructions(code):
        operation, value = at.opname, at.argval
        if at.starts_line is not None and at.starts_line is not False:
            line = getattr(at, "line_number", None) or (at.starts_line if at.starts_line is not True else line)
        if operation.startswith("LOAD_FAST"):
            for name in value if type(value) is tuple else (value,):
                now = (at.offset, line, "local", name, ())
                found.append(now)
        elif operation == "STORE_FAST_LOAD_FAST":  # 3.13
            now = (at.offset, line, "local", value[1], ())
            found.append(now)
        elif operation in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            now = (at.offset, line, "local", value, ())
            found.append(now)
        elif operation in ("LOAD_GLOBAL", "LOAD_NAME"):
            now = (at.offset, line, "global", value, ())
            found.append(now)
        elif operation in ("LOAD_ATTR", "LOAD_SUPER_ATTR") and now and len(now[4]) < CHAIN_MAX:
            now = now[:4] + (now[4] + ((value, False),),)
            found.append(now)
        elif operation == "LOAD_CONST" and now and isinstance(value, str):
            key = (now, value)
            now = None
            continue
        elif operation == "BINARY_SUBSCR" or (operation == "BINARY_OP" and at.argrepr == "[]"):
            now = key[0][:4] + (key[0][4] + ((key[1], True),),) if key else None
            if now:
                found.append(now)
        else:
            if operation in ("STORE_ATTR", "STORE_GLOBAL"):
                stored.add(value)
            now = None
        key = None
    return [one for one in found if not one[4] or one[4][-1][0] not in stored]


def variable(frame, name):
    """A variable of a function that goes on. Before 3.12 only a dictionary of all of them can be had, which would
    keep them: it is emptied, unless the program has it as well."""
    if local is not None:
        return local(frame, name)
    if frame.f_code.co_flags & OPTIMIZED != OPTIMIZED:
        return NONE
    names = frame.f_locals
    value = names.get(name, NONE)
    if sys.getrefcount(names) <= 3:
        names.clear()
    return value


def study(code):
    known = studied.get(id(code))
    if known is None:
        known = studied[id(code)] = (code, marshal.dumps(chains_of(code)))
    return marshal.loads(known[1])


def plain(holder):
    """The dictionary of an object, unless the program's own code would say what it is."""
    for one in MRO(type(holder)):
        found = DICT(one).get("__dict__")
        if found is not None:
            break
    else:
        return NONE
    try:
        found = found.__get__(holder) if type(found) in SLOTS else NONE
    except AttributeError:
        return NONE
    return found if type(found) is dict else NONE


def look(holder, step):
    name, is_item = step
    inside = holder if is_item else plain(holder)
    return dict.get(inside, name, NONE) if issubclass(type(inside), dict) else NONE


def is_number(value, name):
    return type(value) is float or (type(value) is bool and name == "training")


def matters(holder, code):
    """Whether a mode changes what the code computes: where the module has a rate that is not 0, or no rate and the
    program's own code reads its mode."""
    inside, file = plain(holder), code.co_filename
    rates = [inside[rate] for rate in RATES if inside is not NONE and type(inside.get(rate)) is float]
    if rates or "/torch/nn/" in file:
        return any(rate != 0.0 for rate in rates)
    return not any(part in file for part in LIBRARY) and not file.startswith(sys.base_prefix + "/lib/python")


def way_to(holder, owner):
    """How `owner`, an object that can be watched, has a dictionary: through which attribute and place."""
    inside = plain(owner)
    if inside is not NONE:
        for name, value in inside.items():
            if value is holder:
                return (name, None)
            if type(value) is list:
                for place, one in enumerate(value):
                    if one is holder:
                        return (name, place)
    return None


def hold(holder, is_item, others):
    """What finds the holder again without keeping it: (reference, way)."""
    try:
        return (weakref.ref(holder), None)
    except TypeError:
        pass
    for owner in others if is_item else ():
        way = way_to(holder, owner)
        try:
            return (weakref.ref(owner), way) if way else None
        except TypeError:
            pass
    return None


def watch(found, label, name, value, place, key):
    if key in running or len(running) >= WATCHES_MAX:
        return
    one = Watch()
    one.holder, one.path = found
    one.name, one.before, one.now, one.reported, one.since = name, value, value, 0, 0
    one.label, one.place, one.key = label, place, key
    running[key] = one


def label_of(root, steps):
    return root + "".join('["%s"]' % name if is_item else "." + name for name, is_item in steps)


def read_chain(frame, names, one):
    """Watches the number at the end of a chain, if there is one."""
    _, line, kind, root, steps = one
    code = frame.f_code
    if not steps:
        if kind == "global":
            value = dict.get(frame.f_globals, root, NONE)
            if is_number(value, root):
                watch((frame.f_globals, "dict"), root, root, value, (code, line), (id(frame.f_globals), root))
        return
    holder = names.get(root, NONE) if kind == "local" else dict.get(frame.f_globals, root, NONE)
    for step in steps[:-1]:
        holder = look(holder, step)
    name, is_item = steps[-1]
    value = look(holder, steps[-1])
    if not is_number(value, name) or (name == "training" and not matters(holder, code)):
        return
    key = (id(holder), name)
    if key not in running:
        found = hold(holder, is_item, (names.get("self", NONE),))
        if found:
            label = label_of(root, steps)
            if root == "self" and len(steps) == 1:
                label = label_of(NAME(type(holder)), steps)
            watch(found, label, name, value, (code, line), key)


def returned(frame, what="return", _=None):
    """A function that was called in a capture returns. A program that takes the profile function away, and puts it
    back, calls it by way of sys.setprofile()."""
    if what != "return":
        return
    code = frame.f_code
    chains = study(code)
    if running is None or not chains or code.co_flags & LATER:
        return
    names = frame.f_globals if code.co_name == "<module>" else frame.f_locals
    for one in chains:
        read_chain(frame, names, one)


def outer(frame, begun):
    """The frames that were there before the capture and are after it: what they read in between."""
    while frame is not None:
        code, (was, first) = frame.f_code, begun.get(id(frame), (None, 0))
        for one in study(code) if was is code else ():
            last = frame.f_lasti
            if not (first < one[0] < last if first != last else one[1] == frame.f_lineno):
                continue
            _, line, kind, root, steps = one
            if code.co_name == "<module>" or kind == "global":
                read_chain(frame, frame.f_globals, one)
                continue
            value = variable(frame, root)
            if steps:
                read_chain(frame, {root: value, "self": variable(frame, "self")}, one)
            elif type(value) is float:
                watch((code, "frame"), root, root, value, (code, line), (id(code), root))
        frame = frame.f_back


def begin():
    """A capture has begun; true: functions that return are to be looked at."""
    global running, begun_frames
    if sys.getprofile() is not None or len(captures) >= CAPTURES_MAX:
        return False
    running, begun_frames = {}, {}
    frame = sys._getframe(1)
    while frame is not None:
        begun_frames[id(frame)] = (frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return True


def end(number):
    """It has ended; 0: and gave no graph. True: functions that return are still looked at."""
    global running, begun_frames
    if running is not None and number:
        outer(sys._getframe(1), begun_frames)
        captures[number] = list(running.values())
    running, begun_frames = None, {}
    return sys.getprofile() is returned


def value_of(one, frame):
    if one.path == "frame":
        while frame is not None and frame.f_code is not one.holder:
            frame = frame.f_back
        return variable(frame, one.name) if frame is not None else NONE
    if one.path == "dict":
        return dict.get(one.holder, one.name, NONE)
    holder = one.holder()
    if holder is None:
        return NONE
    if one.path is None:
        return look(holder, (one.name, False))
    name, place = one.path
    holder = look(holder, (name, False))
    if place is not None:
        holder = holder[place] if type(holder) is list and place < len(holder) else NONE
    return look(holder, (one.name, True))


def is_other_captures(one, now, number):
    """Another graph has this value: the program chooses among them."""
    return any(other.key == one.key and other.before == now
               for which, watches in captures.items() if which != number for other in watches)


def launched(number, time):
    """A graph of a capture was launched: reports the numbers that are not what they were."""
    frame = sys._getframe(1)
    for one in captures.get(number, ()):
        now = value_of(one, frame)
        if type(now) is int and type(one.before) is float:
            now = float(now)
        if now == one.before:
            one.since = time
        if type(now) is not type(one.before) or now == one.before:
            continue
        if (one.reported >= REPORTS_MAX and now == one.now) or is_other_captures(one, now, number):
            continue
        one.reported += 1
        one.now = now
        code, line = one.place
        report(number, id(one) & 0xFFFFFFFF, type(now) is bool, float(one.before), float(now), one.since, one.label,
             "%s:%d %s" % (code.co_filename, line, code.co_name))


def not_ours(error, trace):
    """Of what was raised while code of this file ran: None, if that code has done so. Otherwise a signal's handler has:
    its frames, False if it has none."""
    while trace is not None and trace.tb_frame.f_code.co_filename in (OURS, dis.__file__):
        trace = trace.tb_next
    if trace is None and isinstance(error, Exception):
        return None
    return trace or False


OURS = not_ours.__code__.co_filename
begun_frames = {}
