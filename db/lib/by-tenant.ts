/** Records of several tenants, by their tenant and in their order: work that looked across tenants is done in each of them. */
export const byTenant = <T extends { tenantId: string }>(all: readonly T[]): Map<string, T[]> => {
  const found = new Map<string, T[]>()
  for (const one of all) {
    const mine = found.get(one.tenantId)
    if (mine) mine.push(one)
    else found.set(one.tenantId, [one])
  }
  return found
}
