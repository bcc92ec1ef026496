/** Another product's kind of a name that ours has too, of a group that comes first. */
export const othersKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "tenants.a.example" },
  spec: {
    group: "a.example",
    scope: "Cluster",
    names: { kind: "Tenant", plural: "tenants", singular: "tenant" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};
export const othersTenant = { apiVersion: "a.example/v1", kind: "Tenant", metadata: { name: "others" } };
