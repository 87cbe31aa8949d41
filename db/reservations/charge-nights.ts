import { textIn } from '../../config/local-text.ts'
import type { LocalText } from '../../config/local-text.ts'
import { daysBetween } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { prepared, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { DayPosting } from '../financial/index.ts'
import type { ExtraRow, ReservationNightRow } from '../rows.ts'
import { writeCharges } from './folio/write.ts'
import type { Charge, Charged, ChargedStay } from './folio/write.ts'
import type { LineTax } from './folio/lines.ts'

type Night = Pick<ReservationNightRow, 'reservationId' | 'date' | 'amount' | 'unitTypeId' | 'ratePlanId'> & {
  taxes: LineTax[]
  components: { extraId: string; amount: number }[]
  /** Commission of the channel that sold it; null if none did. */
  commission: number | null
  channelConnectionId: string | null
}
type Component = Pick<ExtraRow, 'id' | 'code' | 'revenueGroup'> & { name: LocalText }

/** Tax of a night or an extra as it stands on a folio line. */
export const lineTax = ({ taxRuleId, code, included, amount }: LineTax): LineTax => ({
  taxRuleId,
  code,
  included,
  amount,
})

/** A night as charges: the room, and each part of its price that belongs to an extra. Taxes go with the room, or with what stands for it. */
export const nightCharges = (stay: ChargedStay, night: Night, extras: ReadonlyMap<string, Component>): Charge[] => {
  const parts = night.components.filter((part) => part.amount > 0)
  const room = night.amount - sum(parts.map((part) => part.amount))
  const taxes = night.taxes.map(lineTax)
  const common = { stay, kind: 'charge' as const, isPrice: true, routed: { category: 'room', date: night.date } }
  const source = (key: string) => ({ type: 'reservation_night', id: stay.id, key: `${night.date}:${key}` })
  const isRoomless = room === 0 && parts.length > 0
  return [
    {
      ...common,
      category: 'room',
      description: `Night of ${night.date}`,
      amount: room,
      taxes: isRoomless ? [] : taxes,
      source: source('room'),
      event: 'reservations.room_night_charged',
      context: { unitTypeId: night.unitTypeId, ratePlanId: night.ratePlanId },
    },
    ...parts.map((part, index): Charge => {
      const extra = extras.get(part.extraId)
      return {
        ...common,
        category: extra?.revenueGroup ?? 'other',
        description: extra ? textIn(extra.name, 'en') || extra.code : 'Included',
        amount: part.amount,
        taxes: isRoomless && index === 0 ? taxes : [],
        source: source(`component:${part.extraId}`),
        event: 'reservations.package_component_charged',
        context: { ratePlanId: night.ratePlanId },
      }
    }),
  ]
}

type Charging = { businessDate: string; stays: readonly ChargedStay[]; through: string }
type OpenNights = { nights: Night[]; extras: ReadonlyMap<string, Component> }

/** Open nights of stays up to a night, `through` included, with the extras that are parts of their prices. */
const openNights = async (trx: Trx, stayIds: readonly string[], through: string): Promise<OpenNights> => {
  const nights = await prepared<Night>(
    trx,
    `select n.reservation_id, n.date, n.amount, n.unit_type_id, n.rate_plan_id, n.taxes, n.components, n.commission, b.channel_connection_id
     from reservation_night n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
     join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
     where n.reservation_id = any(?::uuid[]) and n.status = 'open' and n.date <= ?::date order by n.reservation_id, n.date`,
    [stayIds, through],
  )
  const extraIds = [...new Set(nights.flatMap((night) => night.components.map((part) => part.extraId)))]
  const extras =
    extraIds.length > 0
      ? await sql<Component>(trx, `select id, code, name, revenue_group from extra where id = any(?::uuid[])`, [
          extraIds,
        ])
      : []
  return { nights, extras: new Map(extras.map((one) => [one.id, one])) }
}

const chargesOf = (stays: readonly ChargedStay[], { nights, extras }: OpenNights): Charge[] => {
  const stayOf = new Map(stays.map((one) => [one.id, one]))
  return nights.flatMap((night) => nightCharges(stayOf.get(night.reservationId)!, night, extras))
}

/** The charges that the open nights of stays will become, up to and including the night `through`. Writes nothing. */
export const comingNights = async (trx: Trx, stays: readonly ChargedStay[], through: string): Promise<Charge[]> =>
  chargesOf(
    stays,
    await openNights(
      trx,
      stays.map((one) => one.id),
      through,
    ),
  )

/**
 * Charges the open nights of stays up to a night, `through` included (R35). Repeated calls find them charged. The
 * stays are locked and the business day is held. The postings are for the end of the transaction.
 */
export const chargeNights = async (trx: Trx, { businessDate, stays, through }: Charging): Promise<Charged> => {
  const open = await openNights(
    trx,
    stays.map((one) => one.id),
    through,
  )
  const { nights } = open
  const charged = await writeCharges(trx, { businessDate, charges: chargesOf(stays, open) })
  if (nights.length > 0)
    await sql(
      trx,
      `update reservation_night n set status = 'charged' from unnest(?::uuid[], ?::date[]) as v(reservation_id, date)
       where n.reservation_id = v.reservation_id and n.date = v.date`,
      [nights.map((night) => night.reservationId), nights.map((night) => night.date)],
    )
  return { ...charged, count: nights.length, postings: [...charged.postings, ...nights.flatMap(commissionOf)] }
}

/** Accrues the commission of the channel that sold a night with its charge: once, since a night is charged once. */
const commissionOf = (night: Night): DayPosting[] =>
  night.commission === null || night.channelConnectionId === null
    ? []
    : [
        {
          event: 'properties.channel_commission_accrued',
          source: { id: night.reservationId, seq: daysBetween('1970-01-01', night.date) },
          payload: {
            amounts: { amount: night.commission },
            context: {
              channelConnectionId: night.channelConnectionId,
              unitTypeId: night.unitTypeId,
              ratePlanId: night.ratePlanId,
            },
          },
        },
      ]
