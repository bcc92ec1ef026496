export type Budget = ReturnType<typeof budget>;

type Tenant = { used: number; waiting: { size: number; enter: () => void }[] };

/**
 * Lets things of at most `most` into memory. A tenant has half of what the others leave, so that there is room for whoever
 * comes; what finds none waits, in order for each tenant, and tenants take turns.
 */
export const budget = (most: number) => {
  const tenants = new Map<string, Tenant>(); // those that use or wait for something; whose turn is next first
  let used = 0;
  const hasRoom = (tenant: Tenant, size: number): boolean => {
    if (used === 0) return true;
    const left = most - (used - tenant.used);
    return tenant.used + size <= (tenant.used === 0 ? left : left / 2);
  };
  const take = (tenant: Tenant, size: number): void => {
    tenant.used += size;
    used += size;
  };
  /** Whether the first one that waits for a tenant could enter. */
  const isLetIn = (id: string, tenant: Tenant): boolean => {
    const [next] = tenant.waiting;
    if (next === undefined || !hasRoom(tenant, next.size)) return false;
    tenant.waiting.shift();
    take(tenant, next.size);
    tenants.delete(id); // its turn is last now
    tenants.set(id, tenant);
    next.enter();
    return true;
  };
  const letIn = (): void => {
    while ([...tenants].some(([id, tenant]) => isLetIn(id, tenant)));
  };
  return {
    used: (): number => used,
    /** Waits for room for something of a size; what is larger than all may enter alone. Its callers bound what waits, as each waits. */
    enter: async (tenantId: string, size: number): Promise<void> => {
      const tenant = tenants.get(tenantId) ?? { used: 0, waiting: [] };
      tenants.set(tenantId, tenant);
      if (tenant.waiting.length === 0 && hasRoom(tenant, size)) return take(tenant, size);
      const { promise, resolve } = Promise.withResolvers<void>();
      tenant.waiting.push({ size, enter: resolve });
      await promise;
    },
    leave: (tenantId: string, size: number): void => {
      const tenant = tenants.get(tenantId);
      if (tenant === undefined) return;
      take(tenant, -size);
      letIn();
      if (tenant.used === 0 && tenant.waiting.length === 0) tenants.delete(tenantId);
    },
  };
};
