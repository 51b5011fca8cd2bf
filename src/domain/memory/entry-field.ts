/**
 * The metadata field that names an entry of the same user by its key, so that recall finds the entry. Deleting the memory
 * deletes the entry, and the other memories that name it, in one transaction. Only strings count, in versions that are no
 * history.
 */
export const ENTRY_FIELD = "cairnEntry";
