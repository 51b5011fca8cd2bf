type Condition = Record<string, unknown>;

/** True if a vector's indexed metadata passes a filter. A field that was not indexed when it was written has no value. */
export function matches(indexed: Record<string, unknown>, filter: VectorizeVectorMetadataFilter): boolean {
  return Object.entries(filter).every(([field, condition]) =>
    typeof condition === "object" && condition !== null
      ? Object.entries(condition as Condition).every(([op, operand]) => holds(op, indexed[field], operand))
      : holds("$eq", indexed[field], condition),
  );
}

function holds(op: string, value: unknown, operand: unknown): boolean {
  switch (op) {
    case "$eq":
      return value === operand;
    case "$ne":
      return value !== operand;
    case "$in":
      return Array.isArray(operand) && operand.includes(value);
    case "$nin":
      return Array.isArray(operand) && !operand.includes(value);
    default:
      throw new Error(`the double knows no ${op}`);
  }
}
