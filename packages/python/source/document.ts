// The parts of an OpenAPI document that a client is written from.

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly (string | number | boolean | null)[];
  const?: string | number | boolean;
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  description?: string;
  readOnly?: boolean;
};

export type Parameter = { in: "path" | "query" | "header"; name: string; required?: boolean; schema: Schema };

type Content = Readonly<Record<string, { schema: Schema }>>;

export type Operation = {
  operationId: string;
  summary: string;
  tags: readonly string[];
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Readonly<Record<string, { content?: Content }>>;
};

export type Document = {
  info: { version: string };
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, Schema>> };
};

/** The name of the component that a schema refers to. */
export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.replace("#/components/schemas/", "");
