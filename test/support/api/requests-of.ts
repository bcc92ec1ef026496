type Documented = { paths: Record<string, Record<string, { operationId: string; requestBody?: object }>> };

/** Every example of a request that an OpenAPI document shows, in an order in which what is changed has been made before. */
export const requestsOf = (
  document: object,
): { id: string; method: string; path: string; body: object; isForm: boolean }[] => {
  const { paths } = document as Documented; // it is the one that we serve
  const { components } = document as { components: { schemas: Record<string, { examples: object[] }> } };
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { operationId: id, requestBody }]) => {
      const [, name = ""] = /"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(requestBody ?? {})) ?? [];
      return (components.schemas[name]?.examples ?? []).map((body) => ({
        id,
        method: method.toUpperCase(),
        path,
        body,
        isForm: JSON.stringify(requestBody).includes("multipart/form-data"),
      }));
    }),
  );
  const isChange = ({ method }: { method: string }) => method === "PATCH";
  return [...all.filter((one) => !isChange(one)), ...all.filter(isChange)].filter(({ id }) => !id.startsWith("replay"));
};
