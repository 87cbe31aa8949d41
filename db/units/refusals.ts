import { sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { seal, unseal } from '../lib/sealing/index.ts'

/** A guest's refusal of service: until when, and its evidence, such as a note on the door. It may hold personal data. */
export type Refusal = { until: string; evidence: string }
/** As a unit keeps it: the evidence sealed, and whose stay it is of. */
type StoredRefusal = { until: string; sealed: string; reservationId: string | null }

const placeOf = (unitId: string) => ({ table: 'unit', rowId: unitId, purpose: 'refusal' })

export const sealRefusal = async (
  trx: Trx,
  unitId: string,
  { until, evidence }: Refusal,
  reservationId: string | null,
): Promise<StoredRefusal> => ({
  until,
  reservationId,
  sealed: (await seal(trx, 'tenant', placeOf(unitId), evidence)).toString('base64'),
})

/** Units as people read them. */
export const openRefusals = <U extends { id: string; serviceRefused: unknown }>(
  trx: Trx,
  units: readonly U[],
): Promise<(Omit<U, 'serviceRefused'> & { serviceRefused: Refusal | null })[]> =>
  Promise.all(
    units.map(async (unit) => {
      const stored = unit.serviceRefused as StoredRefusal | null
      if (stored === null) return { ...unit, serviceRefused: null }
      const { until, sealed } = stored
      const evidence = await unseal<string>(trx, 'tenant', placeOf(unit.id), Buffer.from(sealed, 'base64'))
      return { ...unit, serviceRefused: { until, evidence } }
    }),
  )

/** Units whose refusal ended 90 days ago, of every tenant. */
export const erasableRefusals = (trx: PlatformTrx, most = 500) =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from refusals_erasable(?)`, [most])

export const eraseRefusals = async (trx: Trx, unitIds: readonly string[]): Promise<void> => {
  await sql(
    trx,
    `update unit set service_refused = null, version = version + 1 where id = any(?::uuid[])
       and service_refused ->> 'until' < to_char(current_date - 90, 'YYYY-MM-DD')`,
    [unitIds],
  )
}
