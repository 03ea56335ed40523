// The fields of a schema that are clustered on: what is promised, said and drawn must speak of the same ones.

/**
 * Return the fields that become columns, with all that describes one in one object.
 *
 * @param {any} schema
 * @returns {any[]}
 */
export const featureFields = ({ fields }) =>
  fields
    .map((/** @type {any} */ field) => ({ ...field.constraints, ...field.shoal, ...field }))
    .filter((/** @type {any} */ { role = "feature" }) => role === "feature");

/** Return the field of a schema that has a place and nothing else. @param {any} schema */
export function placeAlone(schema) {
  const [place, another] = schema ? featureFields(schema) : [];
  return place?.type === "geopoint" && !another ? place : undefined;
}
