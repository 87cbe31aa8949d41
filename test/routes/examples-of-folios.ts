import fc from 'fast-check'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Accounts of the house: one with a charge that is large enough for every adjustment and transfer, one to move lines to, and one at zero. */
export const ofFolios = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const { propertyId } = house
  const open = () => house.inHouse((trx) => openFolio(trx, { propertyId, kind: 'house' }))
  const [folioId, otherFolioId, spare, changed] = [await open(), await open(), await open(), await open()]
  const { lineIds } = await house.inHouse((trx) =>
    chargeFolio(trx, folioId, { category: 'other', description: 'A feast', unitAmount: 90_000_000_000 }),
  )
  const [folioLineId = ''] = lineIds
  const group = (code: string) =>
    house.inHouse((trx) =>
      createGroup(trx, {
        propertyId,
        code,
        name: 'A group',
        arrival: house.day(60),
        departure: house.day(62),
        ratePlanId: house.ratePlanId,
      }),
    )
  const [groupId, optional, confirmed, released, cancelled] = [
    await group('OPEN'),
    await group('OPTION'),
    await group('CONFIRM'),
    await group('RELEASE'),
    await group('CANCEL'),
  ]
  await house.inHouse((trx) => confirmGroup(trx, released))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    records: { groupId, folioId, otherFolioId, folioLineId },
    known: {
      folioId: one(folioId),
      toFolioId: one(otherFolioId, folioId),
      lineId: one(folioLineId),
      lines: one([{ lineId: folioLineId, amount: 3 }]),
      kind: one('house'),
      routes: one([]),
      groupId: one(groupId),
      code: one('G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G8', 'G9'),
      release: one({ type: 'none' }, { type: 'fixed', date: house.day(50) }, { type: 'rolling', daysBefore: 3 }),
      nights: one([], [{ unitTypeId: house.unitTypeId, from: house.day(60), to: house.day(61), quantity: 1 }]),
      unitTypeIds: one([house.unitTypeId]),
      reason: one('changed_plans', 'a good reason'),
      until: one(new Date(Date.now() + 86_400_000).toISOString()),
      'groups.option groupId': one(optional),
      'groups.confirm groupId': one(confirmed),
      'groups.release groupId': one(released),
      'groups.roomingList groupId': one(released),
      rowKey: one('r1', 'r2', 'r3'),
      'groups.cancel groupId': one(cancelled),
      'folios.update folioId': one(changed),
      'folios.close folioId': one(spare),
      'folios.reopen folioId': one(spare),
    },
    examples: {
      'folios.list': [{}, { propertyId, kind: 'house', status: 'open', balance: 'due' }],
      'groups.list': [{}, { propertyId, status: 'inquiry', q: 'group' }],
      'folios.lines': [{}, { kind: 'charge', category: 'other' }],
    },
  }
}
