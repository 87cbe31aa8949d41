import { createGroup } from '../../db/reservations/group/create.ts'
import { importRoomingList } from '../../db/reservations/group/rooming-list.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { judge, percentile } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'

const rounds = 3
const rooms = 200
const lines = sized(5_000, 500)

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** A rooming list of 200 rows, and a charge on a folio that has thousands of lines beside one on an empty folio. */
export const groups = async (): Promise<{ results: Result[]; notes: string[] }> => {
  const house = await makeHouse({ units: rooms, taxes: true, deposit: null })
  const { propertyId, unitTypeId, inHouse, day } = house
  const took: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [arrival, departure] = [day(30 + round * 3), day(32 + round * 3)]
    const groupId = await inHouse((trx) =>
      createGroup(trx, {
        propertyId,
        code: `BENCH${round}`,
        name: 'A congress',
        arrival,
        departure,
        ratePlanId: house.ratePlanId,
        allotment: { nights: [{ unitTypeId, from: arrival, to: departure, quantity: rooms }] },
      }),
    )
    await inHouse((trx) => confirmGroup(trx, groupId))
    const rows = Array.from({ length: rooms }, (_, index) => ({
      rowKey: `${index}`,
      unitTypeId,
      arrival,
      departure,
      adults: 2,
      childrenAges: [],
      guests: [
        { firstName: 'Ana', lastName: `Souza ${round} ${index}` },
        { firstName: 'Rui', lastName: `Souza ${round} ${index}` },
      ],
    }))
    took.push(await timed(() => inHouse((trx) => importRoomingList(trx, groupId, rows))))
  }
  const open = () => inHouse((trx) => openFolio(trx, { propertyId, kind: 'house' }))
  const water = { category: 'minibar', description: 'Water', unitAmount: 600 } as const
  const charge = (folioId: string) => inHouse((trx) => chargeFolio(trx, folioId, water))
  const [full, empty] = [await open(), await open()]
  for (let made = 0; made < lines; made += 1) await charge(full)
  const times = { full: [] as number[], empty: [] as number[] }
  for (let index = 0; index < 100; index += 1) {
    times.full.push(await timed(() => charge(full)))
    times.empty.push(await timed(() => charge(empty)))
  }
  return {
    results: [
      judge(
        { name: `rooming list of ${rooms} rows`, unit: 'ms', ours: Math.max(...took), reference: null },
        { most: 3_000 },
      ),
      judge(
        {
          name: `charge on a folio of ${lines} lines, median`,
          unit: 'ms',
          ours: percentile(times.full, 0.5),
          reference: percentile(times.empty, 0.5),
        },
        null,
      ),
    ],
    notes: [`Each rooming list is imported into a group with its own nights; the slowest of ${rounds} counts.`],
  }
}
