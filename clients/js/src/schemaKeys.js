// Keys of a schema, as Python knows them (src/shoal/schema/keys.py): a key that is not read here is a record that is
// encoded otherwise than declared.

import { fail } from "./refusals.js";
import { readDay, sameCategory, truthWord } from "./values.js";

const NUMBERS = "number integer year";
const LISTED = `string any ${NUMBERS}`;
const TYPES = `${LISTED} boolean geopoint date datetime`;
const NOT_ENCODED = "time yearmonth duration object array list geojson";
/** @type {Record<string, string>} */
const CHOICES = {
  missing: "category fill refuse",
  role: "feature describe user sample_weight ignore",
  scale: "linear log",
};

/** Keys at each level, and the types of fields that may have them. @type {Record<string, [keys: string, types: string][]>} */
const KEYS = {
  schema: [["fields missingValues title description shoal name $schema profile fieldsMatch primaryKey uniqueKeys foreignKeys", TYPES]],
  field: [
    ["name type format title description missingValues constraints shoal example rdfType", TYPES],
    ["categories categoriesOrdered", LISTED],
    ["trueValues falseValues", "boolean"],
    ["decimalChar groupChar bareNumber", NUMBERS],
    ["itemType delimiter", ""],
  ],
  constraints: [
    ["required unique minLength maxLength pattern jsonSchema", TYPES],
    ["minimum maximum", `${NUMBERS} date datetime`],
    ["enum", LISTED],
    ["exclusiveMinimum exclusiveMaximum", ""],
  ],
  shoal: [
    ["weight missing fill unit role", `${TYPES} ordered text`],
    ["scale", NUMBERS],
    ["other", "string"],
    ["longitude latitude center radius", "geopoint"],
  ],
  label: [["value label", TYPES]],
  "shoal of the schema": [["seeded", TYPES]],
};

/** @type {Record<string, string>} */
const FORMATS = { string: "default email uri binary uuid", geopoint: "default array object" };

/** @param {string} words @param {any} word */
const has = (words, word) => words.split(" ").includes(word);

/** @param {unknown} key @param {unknown} name @returns {never} */
const refuse = (key, name) =>
  fail("campaign", `a schema must be one that shoal reads, got another ${JSON.stringify(key)} of ${JSON.stringify(name)}`);

/**
 * Refuse keys that a level does not have, or not for fields of a type.
 *
 * @param {string} level
 * @param {any} plain
 * @param {unknown} name
 * @param {string} [type] none where the field is not read
 */
function checkKeys(level, plain, name, type) {
  if (Object(plain) !== plain || Array.isArray(plain)) refuse(level, name);
  for (const key of Object.keys(plain)) {
    const types = KEYS[level].find(([keys]) => has(keys, key))?.[1];
    if (types === undefined || (type && !has(types, type))) refuse(key, name);
  }
}

/**
 * Return a list as texts, of which some may be labeled.
 *
 * @param {string} key
 * @param {any} listed
 * @param {unknown} name
 * @returns {string[]}
 */
function textsOf(key, listed, name) {
  if (!Array.isArray(listed)) refuse(key, name);
  return listed.map((/** @type {any} */ one) => {
    if (Object(one) === one) checkKeys("label", one, name);
    const value = Object(one) === one ? one.value : one;
    return value == null || Object(value) === value ? refuse(key, name) : String(value);
  });
}

/**
 * Return the fields that are clustered on, with all that describes one in one object and its categories as texts.
 *
 * @param {any} schema
 * @returns {any[]}
 */
export function checkedFeatures(schema) {
  checkKeys("schema", schema, "the schema");
  const { fields: listed, shoal = {} } = schema;
  checkKeys("shoal of the schema", shoal, "the schema");
  if (!Array.isArray(listed) || typeof (shoal.seeded ?? false) !== "boolean") refuse("fields", "the schema");
  const common = textsOf("missingValues", schema.missingValues ?? [""], "the schema");
  const fields = listed.map((/** @type {any} */ field) => checkedField(field, common));
  return fields.filter((/** @type {any} */ { role }) => role === "feature");
}

/** @param {any} field @param {string[]} common words that mean missing in all fields */
function checkedField(field, common) {
  checkKeys("field", field, "a field");
  const { name, type = "any", format = "default", constraints = {}, shoal = {} } = field;
  const unread = has("user ignore", shoal.role);
  /** @param {unknown} right @param {string} key */
  const check = (right, key) => right || refuse(key, name);
  check(typeof name === "string", "name");
  check(has(unread ? `${TYPES} ${NOT_ENCODED}` : TYPES, type), "type");
  checkKeys("constraints", constraints, name, unread ? "" : type);
  checkKeys("field", field, name, unread ? "" : type);
  const { categories, categoriesOrdered: ordered = false, decimalChar = ".", groupChar = "", bareNumber = true } = field;
  const { required = false, minimum, maximum } = constraints;
  const given = categories ?? constraints.enum;
  const listed = given || ordered ? textsOf("categories", given ?? [], name).map((one) => one.trim()) : undefined;
  const { role = "feature", missing = required ? "refuse" : "category", scale = "linear" } = shoal;
  const isText = type === "string" && role !== "feature";
  checkKeys("shoal", shoal, name, ordered ? "ordered" : listed ? "string" : isText || has(NOT_ENCODED, type) ? "text" : type);
  for (const [key, value] of Object.entries({ role, missing, scale })) check(has(CHOICES[key], value), key);
  check(typeof required === "boolean" && (!required || missing === "refuse"), "required");
  check(typeof ordered === "boolean", "categoriesOrdered");
  check((missing === "fill") === (shoal.fill !== undefined), "fill");
  check(!listed || (!(categories && constraints.enum) && (minimum ?? maximum) === undefined), "categories");
  check(new Set(listed?.map(sameCategory)).size === (listed?.length ?? 0), "categories");
  check(unread || (decimalChar === "." && !groupChar && bareNumber === true), "decimalChar");
  check(unread || has("date datetime", type) || has(FORMATS[type] ?? "default", format), "format");
  check(typeof format === "string", "format");
  if (has("feature describe", role)) {
    const isDate = has("date datetime", type);
    const read = (/** @type {any} */ end) => (isDate && typeof end === "string" ? readDay(end, []) : isDate ? NaN : end);
    const [low, high] = [minimum, maximum].map(read);
    const { weight = 1, other = "", center, radius } = shoal;
    check(Number.isFinite(weight) && weight > 0 && typeof other === "string", "weight");
    if (type === "geopoint") check(Array.isArray(center) && center.length === 2 && [...center, radius].every(Number.isFinite) && radius > 0, "center");
    if (listed) check(listed.length > (ordered ? 1 : 0), "categories");
    else if (isDate || has(NUMBERS, type)) check(Number.isFinite(low) && Number.isFinite(high) && low < high, "minimum");
    else check(isText || !has("string any", type), "categories");
  }
  return {
    ...constraints,
    ...shoal,
    ...field,
    type,
    role,
    missing,
    words: [...common, ...textsOf("missingValues", field.missingValues ?? [], name)],
    ...(listed && { enum: ordered ? undefined : listed, categories: ordered ? listed : undefined }),
    truths: truthsOf(field, common, check),
  };
}

/**
 * Return what words for yes and no mean; those that mean missing are not among the usual ones.
 *
 * @param {any} field
 * @param {string[]} common
 * @param {(right: unknown, key: string) => unknown} check
 * @returns {Map<string, string>}
 */
function truthsOf({ name, trueValues = [], falseValues = [], missingValues = [] }, common, check) {
  const [yes, no, own] = Object.entries({ trueValues, falseValues, missingValues }).map(([key, listed]) =>
    textsOf(key, listed, name).map(truthWord),
  );
  const absent = [...own, ...common.map(truthWord)];
  const read = (/** @type {string} */ truth, /** @type {string[]} */ given, /** @type {string} */ usual) =>
    [truth, ...(given.length ? given : usual.split(" "))];
  const [truths, lies] = [read("true", yes, "yes y t 1"), read("false", no, "no n f 0")];
  check(!truths.some((word) => lies.includes(word)) && ![...yes, ...no].some((word) => ["", ...own].includes(word)), "trueValues");
  const usual = (/** @type {string} */ word) => ![...yes, ...no, "true", "false"].includes(word);
  // As in Python, where a column of truths is one of 1 and 0 beside a gap.
  const ones = lies.includes("1") ? truths : ["1", ...truths];
  const zeros = truths.includes("0") ? lies : ["0", ...lies];
  return new Map(
    Object.entries({ true: ones, false: zeros }).flatMap(([truth, words]) =>
      words.filter((word) => !usual(word) || !absent.includes(word)).map((word) => /** @type {const} */ ([word, truth])),
    ),
  );
}
