import { markDirty } from '../../jobs/channels.ts'
import { contextOf } from './connection.ts'
import type { Trx } from './connection.ts'
import { enqueue } from './enqueue.ts'

/** SQL that tells whether a property has a connected channel, for statements that read the property anyway. */
export const hasChannels = (property: string) =>
  `exists (select from channel_connection cc where cc.tenant_id = ${property}.tenant_id and cc.property_id = ${property}.id and cc.status <> 'disconnected')`

export type Dirty = {
  propertyId: string
  kind: 'availability' | 'rates' | 'all'
  /** Nights, both included; everything that can be sold unless said. */
  from?: string
  to?: string
  unitTypeIds?: readonly string[]
  unitPoolIds?: readonly string[]
  /** It may close sales by itself: no stop of sales and no lack of units says so. */
  closes?: boolean
}

// Names that do not fit a payload stand for all.
const atMost = (ids: readonly string[] = [], most: number) => (ids.length > most ? [] : [...ids])

/** Asks, in the transaction of a change, that the channels of the property be told of it (R28). The caller has found that there are some. */
export const requestMarks = async (trx: Trx, dirty: Dirty): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId === null) throw new Error('a property belongs to a tenant')
  const { propertyId, kind, from = '1900-01-01', to = '2200-12-31' } = dirty
  await enqueue(trx, markDirty, {
    tenantId,
    propertyId,
    kind,
    from,
    to,
    unitTypeIds: atMost(dirty.unitTypeIds, 50),
    unitPoolIds: atMost(dirty.unitPoolIds, 20),
    ...(dirty.closes ? { closes: true } : {}),
  })
}

/** Prices or restrictions of some days; one of no type is of all. A price that is taken away closes its day. */
export const ratesOf = (
  cells: readonly { unitTypeId?: string | null; date: string; kind?: string; after?: unknown }[],
): Omit<Dirty, 'propertyId'> | 'nothing' => {
  const dates = cells.map((cell) => cell.date).sort()
  const [from, to] = [dates[0], dates.at(-1)]
  if (from === undefined || to === undefined) return 'nothing'
  const typeIds = new Set(cells.map((cell) => cell.unitTypeId ?? null))
  return {
    kind: 'rates',
    from,
    to,
    unitTypeIds: [...typeIds].filter((id) => id !== null && !typeIds.has(null)) as string[],
    closes: cells.some(({ kind, after }) => kind === 'price' && after === null),
  }
}
