# SPDX-License-Identifier: Apache-2.0
"""The part of JSON Schema that docs/doctor.schema.json uses."""

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}


def complaints(value, schema, where="$", root=None):
    """What of `value` is not as the schema says, one text each."""
    root = root or schema
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[kind]) and not isinstance(value, bool)
                         for kind in kinds):
        yield f"{where}: {value!r} is no {' or '.join(kinds)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not one of {schema['enum']}"
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        yield f"{where}: {value} is less than {schema['minimum']}"
    if "minLength" in schema and isinstance(value, str) and len(value) < schema["minLength"]:
        yield f"{where}: the text is empty"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from complaints(item, schema.get("items", {}), f"{where}[{index}]", root)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        for name, item in value.items():
            if name not in known and schema.get("additionalProperties") is False:
                yield f"{where}: {name} is not in the schema"
            yield from complaints(item, known.get(name, {}), f"{where}.{name}", root)
