/** The hash in Redis, under the service's prefix, where the api notes when a session or a key was last used. */
export const lastSeenKey = 'seen'

export type Seen = { kind: 'session'; id: string } | { kind: 'api_key'; tenantId: string; id: string }

export const seenField = (seen: Seen): string =>
  seen.kind === 'session' ? `s:${seen.id}` : `k:${seen.tenantId}:${seen.id}`

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const fieldForm = new RegExp(`^(?:s:(${uuid})|k:(${uuid}):(${uuid}))$`)
const valueForm = /^(\d{13})\|([0-9a-f.:]{2,45})$/

/** Reads an entry of the hash; null if the service did not write it. */
export const readSeen = (field: string, value: string): { seen: Seen; at: Date; address: string } | null => {
  const [, sessionId, tenantId, keyId] = fieldForm.exec(field) ?? []
  const [, ms, address] = valueForm.exec(value) ?? []
  if (ms === undefined || address === undefined) return null
  const at = new Date(Number(ms))
  if (sessionId !== undefined) return { seen: { kind: 'session', id: sessionId }, at, address }
  if (tenantId !== undefined && keyId !== undefined)
    return { seen: { kind: 'api_key', tenantId, id: keyId }, at, address }
  return null
}
