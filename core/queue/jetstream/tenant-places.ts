/** Places for messages in hand that tenants share, over all consumers of a process. */
export type TenantPlaces = {
  /**
   * Takes places for a message of a tenant; the answer gives them back. Null when the tenant has its share: half of what the
   * others have left, so that there are places for whoever comes.
   */
  take: (tenantId: string, places: number) => (() => void) | null;
  /** How long until a tenant that has its share will probably have had room for so many more messages, ms. */
  turnInMs: (tenantId: string, messages: number) => number;
};

type Held = { places: number; messages: number; meanMs: number };

const firstMeanMs = 500;

export const tenantPlaces = (most: number, nowMs: () => number = () => performance.now()): TenantPlaces => {
  const tenants = new Map<string, Held>(); // those that hold something
  let held = 0;
  return {
    take: (tenantId, places) => {
      const tenant = tenants.get(tenantId) ?? { places: 0, messages: 0, meanMs: firstMeanMs };
      const ofOthers = held - tenant.places;
      if (tenant.messages > 0 && tenant.places + places > (most - ofOthers) / 2) return null;
      tenants.set(tenantId, tenant);
      tenant.places += places;
      tenant.messages++;
      held += places;
      const tookMs = nowMs();
      return () => {
        tenant.places -= places;
        tenant.messages--;
        held -= places;
        tenant.meanMs += (nowMs() - tookMs - tenant.meanMs) / 16;
        if (tenant.messages === 0) tenants.delete(tenantId);
      };
    },
    turnInMs: (tenantId, messages) => {
      const { messages: inHand, meanMs } = tenants.get(tenantId) ?? { messages: 1, meanMs: 0 };
      return (meanMs * messages) / inHand;
    },
  };
};
