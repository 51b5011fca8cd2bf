/** The fields that are set. An optional field of a type does not take `undefined`, nor an answer null. */
export const present = <Fields extends object>(fields: Fields) =>
  // It has the fields of the given object.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
