export { SqlStore } from "../../storage/sql.ts";
