import type { Board, BoardRow } from '../assignments/pool-board.ts'
import type { Need } from '../assignments/unassigned.ts'
import type { Change, Stranded } from '../assignments/write.ts'
import { pack } from './unit-packing.ts'
import type { Packing, Piece, Taken } from './unit-packing.ts'

const keyOf = (need: Need, index: number) => `${need.reservationId} ${need.from} ${index}`

/** Changes of a packing: rows that move, rows that must go, and units for stays that had none. */
const changesOf = (packing: Packing, rows: readonly BoardRow[], needs: readonly Need[]): Change[] => [
  ...rows.flatMap((row) => {
    const place = packing.places.get(row.id) ?? null
    return row.reservationId === null || (place === row.unitId && row.status === 'proposed')
      ? []
      : [
          {
            assignmentId: row.id,
            reservationId: row.reservationId,
            poolId: row.poolId,
            from: row.from,
            to: row.to,
            fromUnitId: row.unitId,
            toUnitId: place,
          },
        ]
  }),
  ...needs.flatMap((need, index) => {
    const place = packing.places.get(keyOf(need, index))
    return place === undefined
      ? []
      : [
          {
            assignmentId: null,
            reservationId: need.reservationId,
            poolId: need.poolId,
            from: need.from,
            to: need.to,
            fromUnitId: null,
            toUnitId: place,
          },
        ]
  }),
]

const pieceOf = (row: BoardRow): Piece => ({
  key: row.id,
  unitTypeId: row.unitTypeId,
  from: row.from,
  to: row.to,
  unitId: row.unitId,
})

export type Plan = { changes: Change[]; stranded: Stranded[] }

/** Finds places in one pool: `seek` and `needs` are placed, `taken` stands, and what else is proposed gives way where that helps. */
export const planPool = (
  { units, rows }: Board,
  poolId: string,
  seek: ReadonlySet<string>,
  needs: readonly Need[],
  closed: readonly Taken[] = [],
): Plan => {
  const here = rows.filter((row) => row.poolId === poolId)
  const seeking = here.filter((row) => seek.has(row.id))
  const mayMove = (row: BoardRow) => row.status === 'proposed' && row.isWhole
  const movable = here.filter((row) => mayMove(row) && !seek.has(row.id))
  const fixed = here.filter((row) => !mayMove(row) && !seek.has(row.id))
  const wanted = needs.filter((need) => need.poolId === poolId)
  const packing = pack(
    units.filter((unit) => unit.poolId === poolId),
    [...fixed, ...closed],
    movable.map(pieceOf),
    [...seeking.map(pieceOf), ...wanted.map((need, index) => ({ ...need, key: keyOf(need, index), unitId: null }))],
  )
  const without = new Set(packing.stranded)
  const stays = [
    ...seeking.filter((row) => without.has(row.id)),
    ...wanted.filter((need, index) => without.has(keyOf(need, index))),
  ]
  return {
    changes: changesOf(packing, [...seeking, ...movable], wanted),
    stranded: stays.flatMap(({ reservationId, from, to }) =>
      reservationId === null ? [] : [{ reservationId, poolId, from, to }],
    ),
  }
}
