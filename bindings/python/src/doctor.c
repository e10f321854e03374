// SPDX-License-Identifier: Apache-2.0
/* The doctor's findings over logs of events, and the knowledge base: functions that give dicts. */
#include "gphpy.h"

static PyObject *place_of(const gph_place *place)
{
    return Py_BuildValue("{sz sz si sO sz}", "function", place->function, "file",
                         place->file, "line", (int)place->line, "is_python",
                         place->is_python ? Py_True : Py_False, "module", place->module);
}

static PyObject *lines_of(const char *const *lines, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && (count == UINT32_MAX ? lines[i] != NULL : i < count);
         i++) {
        PyObject *line =
            PyUnicode_DecodeUTF8(lines[i], (Py_ssize_t)strlen(lines[i]), "replace");
        if (!line || PyList_Append(list, line) < 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

static PyObject *frames_of(const gph_finding *f)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < f->frame_count; i++) {
        PyObject *frame = place_of(&f->frames[i]);
        if (!frame || PyList_Append(list, frame) < 0)
            Py_CLEAR(list);
        Py_XDECREF(frame);
    }
    return list;
}

static PyObject *finding_of(const gph_finding *f)
{
    static const char *const severities[] = {"info", "warning", "error"};
    gphpy_text out = {0};
    gph_error error = {0};
    const gph_status status =
        gph_finding_text_write(f, 0, gphpy_text_write, &out, &error);
    PyObject *text = gphpy_text_end(&out, status, &error);
    PyObject *frames = text ? frames_of(f) : NULL;
    PyObject *evidence = frames ? lines_of(f->evidence, f->evidence_count) : NULL;
    PyObject *later = evidence ? lines_of(f->consequences, f->consequence_count) : NULL;
    if (later)
        return Py_BuildValue(
            "{ss ss ss ss ss ss ss sK sK sK sN sN sN sN}", "id", f->id, "severity",
            severities[f->severity < 3 ? f->severity : 0], "title", f->title, "cause",
            f->cause, "fix", f->fix, "in_vain", f->in_vain, "docs", f->docs, "process",
            (unsigned long long)f->process, "thread", (unsigned long long)f->thread,
            "count", (unsigned long long)f->count, "frames", frames, "evidence", evidence,
            "consequences", later, "text", text);
    Py_XDECREF(evidence);
    Py_XDECREF(frames);
    Py_XDECREF(text);
    return NULL;
}

static gph_status read_logs(gph_doctor *doctor, PyObject *paths, gph_error *error)
{
    gph_status status = GPH_OK;
    for (Py_ssize_t i = 0; status == GPH_OK && i < TUPLE_SIZE(paths); i++) {
        PyObject *path = NULL;
        if (!PyUnicode_FSConverter(TUPLE_ITEM(paths, i), &path))
            return GPH_E_INVALID;
        const char *name = PyBytes_AsString(path);
        WITHOUT_GIL(status, gph_doctor_read(doctor, name, error));
        Py_DECREF(path);
        if (status == GPH_OK && PyErr_CheckSignals() < 0)
            return GPH_E_STATE;
    }
    if (status == GPH_OK)
        WITHOUT_GIL(status, gph_doctor_finish(doctor, error));
    return status;
}

static PyObject *findings_of(const gph_doctor *doctor)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < gph_doctor_finding_count(doctor); i++) {
        PyObject *finding = finding_of(gph_doctor_finding(doctor, i));
        if (!finding || PyList_Append(list, finding) < 0)
            Py_CLEAR(list);
        Py_XDECREF(finding);
    }
    return list;
}

PyObject *gphpy_examine(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static const char *const names[] = {"language", NULL};
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    gph_error error = {0};
    PyObject *empty = PyTuple_New(0), *result = NULL;
    const bool is_read = empty && (!kwargs || PARSE(empty, kwargs, "|$s:examine", names,
                                                    &options.language));
    Py_XDECREF(empty);
    if (!is_read)
        return NULL;
    gph_status status = gph_doctor_create(&options, &doctor, &error);
    if (status == GPH_OK)
        status = read_logs(doctor, args, &error);
    result = status == GPH_OK ? findings_of(doctor) : gphpy_raise(status, &error, NULL);
    gph_doctor_destroy(doctor);
    return result;
}

/* ---- explain ---- */

static PyObject *entry_of(const gph_explain_entry *e, gph_explain_language language,
                          const char *key)
{
    const gph_explain_text *t = &e->text[language];
    PyObject *fix = lines_of(t->fix, UINT32_MAX),
             *in_vain = lines_of(t->in_vain, UINT32_MAX);
    PyObject *codes = lines_of(e->codes, UINT32_MAX), *see = lines_of(e->see, UINT32_MAX);
    if (fix && in_vain && codes && see)
        return Py_BuildValue("{ss ss ss sN sN sN sN sz}", "slug", e->slug, "title",
                             t->title, "cause", t->cause, "fix", fix, "in_vain", in_vain,
                             "codes", codes, "see", see, "key", key);
    Py_XDECREF(fix);
    Py_XDECREF(in_vain);
    Py_XDECREF(codes);
    Py_XDECREF(see);
    return NULL;
}

static bool read_language(PyObject *word, gph_explain_language *out)
{
    static const char *const words[] = {"en", "zh", NULL};
    const int language =
        word ? gphpy_word(word, words, GPH_EXPLAIN_ENGLISH, "language") : 0;
    *out = (gph_explain_language)language;
    return language >= 0;
}

PyObject *gphpy_explain(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    enum { MOST = 16 };
    static const char *const names[] = {"text", "language", NULL};
    gph_explain_match matches[MOST];
    gph_explain_language language = GPH_EXPLAIN_ENGLISH;
    PyObject *object = NULL, *word = NULL;
    Py_ssize_t bytes = 0;
    if (!PARSE(args, kwargs, "O|$O:explain", names, &object, &word) ||
        !read_language(word, &language))
        return NULL;
    PyObject *asked = PyObject_Str(object); /* an int, an exception: what it says */
    const char *text = asked ? PyUnicode_AsUTF8AndSize(asked, &bytes) : NULL;
    PyObject *list = text ? PyList_New(0) : NULL;
    const size_t count = list ? gph_explain_find(text, (size_t)bytes, matches, MOST) : 0;
    for (size_t i = 0; list && i < count; i++) {
        PyObject *entry = entry_of(matches[i].entry, language, matches[i].key);
        if (!entry || PyList_Append(list, entry) < 0)
            Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    Py_XDECREF(asked);
    return list;
}

PyObject *gphpy_near(PyObject *module, PyObject *object)
{
    (void)module;
    enum { MOST = 8 };
    const char *found[MOST];
    Py_ssize_t bytes = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);
    return text ? lines_of(found,
                           (uint32_t)gph_explain_near(text, (size_t)bytes, found, MOST))
                : NULL;
}
