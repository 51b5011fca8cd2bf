/**
 * The field of a memory's metadata that names an entry of the same user by its key: the memory is how that entry is found.
 * Forgetting the memory deletes the entry, and the other memories that name it, in one transaction. Only a string in a
 * version that is no history counts.
 */
export const ENTRY_FIELD = "cairnEntry";
