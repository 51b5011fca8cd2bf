declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  const swagger: (options: Record<string, unknown>) => unknown;
  export default swagger;
}
declare module "*.css";
