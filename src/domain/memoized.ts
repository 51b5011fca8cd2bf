/** A function whose values are computed once each. */
export function memoized<Key, Value>(valueOf: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, { value: Value }>();
  return (key) => {
    const entry = values.get(key) ?? { value: valueOf(key) };
    values.set(key, entry);
    return entry.value;
  };
}
