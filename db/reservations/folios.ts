import { folioBalanceChanged, folioOpened } from '../../config/events/folios.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll } from '../lib/events.ts'
import { raisePostings } from '../financial/index.ts'
import type { DayPosting } from '../financial/index.ts'
import type { BookingRow, FolioLineRow, FolioRow, ReservationRow } from '../rows.ts'

/** Opens the primary folio of each reservation that has none, and locks them all. Ordered as the reservations. */
/** A folio as events tell of it. */
export const factOf = ({ id, propertyId, version, number, kind, reservationId, balance, currency }: FolioRow) => ({
  propertyId,
  id,
  version,
  data: { folioId: id, number, kind, reservationId, groupId: null, balance, currency },
})

export const openPrimaryFolios = async (
  trx: Trx,
  booking: Pick<BookingRow, 'number'>,
  reservations: readonly ReservationRow[],
): Promise<FolioRow[]> => {
  const made = await sql<FolioRow>(
    trx,
    `insert into folio (property_id, number, kind, reservation_id, is_primary, payer_guest_id, currency)
     select r.property_id, ? || '-' || r.position || '-1', 'guest', r.id, true, r.primary_guest_id, r.currency
     from reservation r where r.id = any(?::uuid[]) order by r.id
     on conflict (tenant_id, reservation_id) where is_primary do nothing returning *`,
    [booking.number, reservations.map((one) => one.id)],
  )
  for (const folio of made) await emit(trx, folioOpened, factOf(folio))
  const folios =
    made.length === reservations.length
      ? made
      : await sql<FolioRow>(
          trx,
          `select * from folio where reservation_id = any(?::uuid[]) and is_primary order by id for no key update`,
          [reservations.map((one) => one.id)],
        )
  return reservations.map((one) => {
    const folio = folios.find((each) => each.reservationId === one.id)
    if (!folio) throw new Error(`reservation ${one.id} has no primary folio`)
    return folio
  })
}

/** A tax of a charge: on top it has a line of its own, included it is part of the amount. Minor units. */
export type LineTax = { taxRuleId: string; code: string; included: boolean; amount: number }

export type NewLine = {
  /** Where another line refers to it. */
  id?: string
  folioId: string
  kind: FolioLineRow['kind']
  category: FolioLineRow['category']
  /** No names of persons. */
  description: string
  /** Positive raises the balance. */
  amount: number
  businessDate: string
  source: { type: string; id: string; key?: string }
  paymentId?: string | null
  taxes?: readonly LineTax[]
  /** The charge that a tax belongs to. */
  originalLineId?: string
}

/** Writes lines; the database adds them to the sums of their folios, which are locked. A closed folio refuses. */
export const addLines = async (trx: Trx, lines: readonly NewLine[]): Promise<FolioLineRow[]> => {
  if (lines.length === 0) return []
  return sql<FolioLineRow>(
    trx,
    `insert into folio_line (id, folio_id, kind, category, description, unit_amount, amount, business_date, source_type, source_id, source_key,
       payment_id, taxes, original_line_id, posted_by)
     select coalesce((v->>'id')::uuid, gen_random_uuid()), (v->>'folioId')::uuid, v->>'kind', v->>'category', v->>'description',
       (v->>'amount')::bigint, (v->>'amount')::bigint, (v->>'businessDate')::date, v->'source'->>'type', (v->'source'->>'id')::uuid,
       coalesce(v->'source'->>'key', ''), (v->>'paymentId')::uuid, coalesce(v->'taxes', '[]'), (v->>'originalLineId')::uuid, ?::jsonb
     from jsonb_array_elements(?::jsonb) v returning *`,
    [JSON.stringify(contextOf(trx).actor), JSON.stringify(lines)],
  )
}

type Balanced = FolioRow & { lineIds: string[]; added: number }

/** Says that balances changed, once per folio and command; with sums as they are now, and the lines that the transaction has added. */
export const announceBalances = async (trx: Trx, folioIds: readonly string[]): Promise<FolioRow[]> => {
  const folios = await sql<Balanced>(
    trx,
    `select f.*, l.line_ids, l.added from folio f cross join lateral (
       select coalesce(array_agg(n.id order by n.seq), '{}') as line_ids, coalesce(sum(n.amount), 0)::bigint as added
       from folio_line n where n.tenant_id = f.tenant_id and n.folio_id = f.id and n.created_at = now()) l
     where f.id = any(?::uuid[]) order by f.id`,
    [[...new Set(folioIds)]],
  )
  await emitAll(
    trx,
    folioBalanceChanged,
    folios.map(({ propertyId, id, version, number, balance, currency, lineIds, added: amount }) => {
      const data = { folioId: id, number, lineIds: lineIds.slice(0, 100), category: null, amount, balance, currency }
      return { propertyId, id, version, data }
    }),
  )
  return folios
}

/**
 * Moves locked folios from stage deposit to stage guest (R42): at check-in, or so that a charge above its credits does not put the deposits account
 * into debit. Answers all of them as they are now, and the postings, which are for the end of the transaction.
 */
export const leaveDepositStages = async (
  trx: Trx,
  folios: readonly FolioRow[],
): Promise<{ folios: FolioRow[]; postings: DayPosting[] }> => {
  const staged = folios.filter((one) => one.stage === 'deposit').map((one) => one.id)
  if (staged.length === 0) return { folios: [...folios], postings: [] }
  const moved = await sql<FolioRow>(
    trx,
    `update folio set stage = 'guest', version = version + 1 where id = any(?::uuid[]) returning *`,
    [staged],
  )
  return {
    folios: folios.map((one) => moved.find((each) => each.id === one.id) ?? one),
    postings: moved
      .filter((one) => one.credits !== one.charges)
      .map((one) => ({
        event: 'reservations.deposit_applied',
        source: { id: one.id, seq: one.version },
        payload: { amounts: { credit: one.credits - one.charges }, documents: { folio: one.id } },
      })),
  }
}

/** Moves one folio out of its deposit stage. */
export const leaveDepositStage = async (
  trx: Trx,
  folio: FolioRow,
): Promise<{ folio: FolioRow; post: () => Promise<unknown> }> => {
  const { folios, postings } = await leaveDepositStages(trx, [folio])
  return { folio: folios[0] ?? folio, post: () => raisePostings(trx, folio.propertyId, postings) }
}
