import { createHash, randomUUID } from 'node:crypto'
import { ApiError, conflict, notFound, overtaken, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { quoteCreated } from '../../config/events/quotes.ts'
import { claimedRoom } from '../../config/quote.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { addDays } from '../../config/time.ts'
import { isOfGuest, nameFirms, resolveGuests } from '../guests/index.ts'
import { sum } from '../lib/amounts.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, preparedOne, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { onDays } from '../lib/days.ts'
import { allOf, inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Part, Sort } from '../lib/paging.ts'
import { insertRow } from '../lib/records.ts'
import { nightsBelow, priceForDesk, readProperty } from '../properties/index.ts'
import type { DeskRoom, DeskSale } from '../properties/index.ts'
import { readNights, usage } from '../units/index.ts'
import { refusePrices } from './desk-prices.ts'
import { Quote } from './models.ts'
import { asAsked, quoteColumns, statusOf, tellQuote, usedBy } from './quote-use.ts'
import type { QuoteStatus, StoredQuote } from './quote-use.ts'
import { blocker, isWaived, refuseBlocked } from './rules/blockers.ts'
import type { Granted } from './rules/blockers.ts'
import { bookingNumber } from './rules/number.ts'

export type NewQuote = {
  propertyId: string
  rooms: readonly DeskRoom[]
  promoCode?: string | undefined
  guestId?: string | undefined
  companyId?: string | undefined
  /** Life of the quote; the setting of the property without it. */
  hours?: number | undefined
  override?: Granted | null
}

/** Nights that lack units for all rooms together; counters are read, not taken. */
const shortNights = async (trx: Trx, sale: DeskSale): Promise<FieldError[]> => {
  const moves = sale.moves({ held: 1 })
  const wanted = new Map<string, number>()
  for (const { poolId, night, held = 0 } of moves)
    wanted.set(`${poolId} ${night}`, (wanted.get(`${poolId} ${night}`) ?? 0) + held)
  const nights = moves.map((move) => move.night).sort()
  const counters = await readNights(
    trx,
    [...new Set(moves.map((move) => move.poolId))],
    nights[0]!,
    addDays(nights.at(-1)!, 1),
  )
  const problems = new Map<string, string>()
  for (const [key, quantity] of wanted) {
    const [poolId = '', night = ''] = key.split(' ')
    const row = counters.get(poolId)?.get(night)
    if (!row) problems.set(night, 'has no counters')
    else if (row.capacity + row.oversell - usage(row) < quantity) problems.set(night, 'is sold out')
  }
  return [...problems]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([night, message]) => ({ field: `nights.${night}`, message }))
}

const refuseManual = (sale: DeskSale, rooms: readonly DeskRoom[], override: Granted | null) => {
  const manual = rooms.flatMap(({ manualNights = [] }, index) =>
    manualNights.length > 0 ? [{ index, manualNights }] : [],
  )
  if (manual.length === 0) return
  refusePrices(
    manual.flatMap(({ index, manualNights }) =>
      nightsBelow(sale.rooms[index]!, manualNights, override?.priceCutBps ?? 10_000).map(
        (date) => `rooms.${index}.manualNights.${date}`,
      ),
    ),
    override,
  )
  refuseBlocked(blocker(true, 'manual_price', 'A price set by hand needs the rule price', 'price'), override)
}

/**
 * Prices up to nine rooms, each on its own days, and freezes the price; nothing is taken. 409 sold_out; 422 beyond_horizon, restriction_violated,
 * transition_blocked where a price by hand is not waived, and what a sale refuses.
 */
export const createQuote = async (trx: Trx, asked: NewQuote): Promise<string> => {
  const { propertyId, rooms, override = null, promoCode } = asked
  const property = await readProperty(trx, propertyId)
  if (!property) throw notFound()
  const sale = await priceForDesk(trx, {
    propertyId,
    property,
    rooms,
    promoCode,
    waiveRestrictions: isWaived(override, 'restriction'),
  })
  refuseManual(sale, rooms, override)
  await nameFirms(trx, [{ field: 'companyId', id: asked.companyId }])
  const short = await shortNights(trx, sale)
  const beyond = short.filter((one) => one.message === 'has no counters')
  if (beyond.length > 0) throw unprocessable('beyond_horizon', 'These nights cannot be booked yet', beyond)
  if (short.length > 0 && !isWaived(override, 'availability'))
    throw conflict('sold_out', 'Not enough is left on every night', short)
  const guestId = asked.guestId ? ((await resolveGuests(trx, [asked.guestId])).get(asked.guestId) ?? null) : null
  const quoted = sale.rooms.map((room) => room.quoted)
  const hours = asked.hours ?? property.settings.quotes.hours
  const made = await insertRow(trx, Quote, {
    id: randomUUID(),
    propertyId,
    number: bookingNumber(),
    guestId,
    companyId: asked.companyId ?? null,
    rooms: quoted,
    currency: property.currency,
    total: sum(quoted.map((room) => room.total)),
    dueNow: sum(quoted.flatMap((room) => room.deposits.filter((one) => one.dueAt === null).map((one) => one.amount))),
    promoCode: sale.promoCodeId === null ? null : (promoCode ?? null),
    promoCodeId: sale.promoCodeId,
    locale: sale.locale,
    hash: createHash('sha256').update(JSON.stringify(quoted)).digest('hex'),
    arrival: quoted.map((room) => room.arrival).sort()[0]!,
    departure: quoted
      .map((room) => room.departure)
      .sort()
      .at(-1)!,
    override: override ? { rules: override.rules, reason: override.reason } : null,
    expiresAt: new Date(property.now.getTime() + hours * 3_600_000),
  }).catch((error: unknown) => {
    throw error instanceof Error && 'constraint' in error && error.constraint === 'quote_number' ? overtaken() : error
  })
  await tellQuote(trx, quoteCreated, made, null)
  return made.id
}

/** Claims of a token that lets the portal take the rooms, while the quote is open; null where the rooms differ in their days. */
const claimsOf = (trx: Trx, quote: StoredQuote): QuoteClaims | null => {
  const { tenantId } = contextOf(trx)
  const alike = quote.rooms.every((room) => room.arrival === quote.arrival && room.departure === quote.departure)
  if (tenantId === null || !alike || statusOf(quote) !== 'open') return null
  return {
    jti: quote.id,
    tenantId,
    propertyId: quote.propertyId,
    arrival: quote.arrival,
    departure: quote.departure,
    currency: quote.currency,
    locale: quote.locale,
    promoCode: quote.promoCode,
    promoCodeId: quote.promoCodeId,
    byStaff: true,
    rooms: quote.rooms.map(claimedRoom),
    total: quote.total,
    dueNow: quote.dueNow,
  }
}

const shown = (trx: Trx, quote: StoredQuote) => ({
  ...quote,
  status: statusOf(quote),
  claims: claimsOf(trx, quote),
  /** Life that is left of an open quote. */
  secondsLeft: Math.max(0, Math.floor((quote.expiresAt.getTime() - quote.now.getTime()) / 1000)),
})

export type QuoteListed = ReturnType<typeof shown>

export const quoteSorts = { createdAt: 'q.created_at', expiresAt: 'q.expires_at', arrival: 'q.arrival' } as const

export type QuoteFilter = Paging & {
  propertyId?: string | undefined
  status?: QuoteStatus | undefined
  guestId?: string | undefined
  companyId?: string | undefined
  arrivalFrom?: string | undefined
  arrivalTo?: string | undefined
  sort: Sort<keyof typeof quoteSorts>
  scope: Condition
}

/** Looked up for each quote of a page: where PostgreSQL joins bookings, it takes few quotes to have none, and sorts all of them for a page. */
const unused = `case when ${usedBy} is null then true else false end`
const ofStatus: Readonly<Record<QuoteStatus, string>> = {
  used: `exists ${usedBy}`,
  open: `q.expires_at > now() and ${unused}`,
  expired: `q.expires_at <= now() and ${unused}`,
}

/** The day on which a total by the clock is cut, and its beginning. */
const today = `(now() at time zone 'UTC')::date`
const midnight = `date_trunc('day', now(), 'UTC')`

/**
 * The number of quotes of a status in some houses. Those without a booking are counted by the day of their expiry, and rows of the present day alone are counted
 * here; null where a list asks for more.
 */
const totalOf = ({ status, guestId, companyId, arrivalFrom, arrivalTo }: QuoteFilter, houses: Part[]): Part | null => {
  if (status === undefined) return null
  if ([guestId, companyId, arrivalFrom, arrivalTo].some((value) => value !== undefined)) return null
  const { text, values } = allOf(houses)
  const kept = (list: 'quote' | 'quote_unused', days = 'true') =>
    `(select coalesce(sum(q.n), 0)::bigint from list_count q where q.list = '${list}' and ${days} and ${text})`
  const present = (times: string) =>
    `(select count(*) from quote q where ${times} and not exists ${usedBy} and ${text})`
  const parts = {
    used: `${kept('quote')} - ${kept('quote_unused')}`,
    open: `${kept('quote_unused', `q.day > ${today}`)} + ${present(`q.expires_at > now() and q.expires_at < ${midnight} + interval '1 day'`)}`,
    expired: `${kept('quote_unused', `q.day < ${today}`)} + ${present(`q.expires_at >= ${midnight} and q.expires_at <= now()`)}`,
  }
  return { text: `select ${parts[status]} as total`, values: [...values, ...values] }
}

export const listQuotes = async (trx: Trx, filter: QuoteFilter) => {
  const houses = [...inScope(filter.scope, 'q.property_id'), ...where('q.property_id = ?', filter.propertyId)]
  const { total, rows } = await readPage<StoredQuote>(
    trx,
    {
      columns: quoteColumns,
      from: 'quote q',
      conditions: [
        ...houses,
        ...(filter.status === undefined ? [] : [{ text: ofStatus[filter.status], values: [] }]),
        ...where(isOfGuest('q.guest_id'), filter.guestId),
        ...where('q.company_id = ?', filter.companyId),
      ],
      days: onDays('q.arrival', { from: filter.arrivalFrom, to: filter.arrivalTo }),
      total: totalOf(filter, houses),
      order: orderBy(filter.sort, quoteSorts, 'q.id'),
    },
    filter,
  )
  return { total, rows: rows.map((row) => shown(trx, row)) }
}

/** Tells whether an open quote could be booked at this moment, and names the obstacles. */
const feasibilityOf = async (
  trx: Trx,
  quote: StoredQuote,
): Promise<{ problems: FieldError[]; texts: QuotedTexts[] }> => {
  try {
    const sale = await priceForDesk(trx, {
      propertyId: quote.propertyId,
      rooms: quote.rooms.map(asAsked),
      promoCode: quote.promoCode,
      locale: quote.locale,
    })
    const texts = sale.rooms.map(({ sold }) => ({
      unitTypeName: sold.unitType.name,
      ratePlanName: sold.ratePlan.name,
      cancellation: sold.policies.cancellation.text,
      noShow: sold.policies.noShow.text,
      deposit: sold.policies.deposit?.text ?? '',
    }))
    return { problems: await shortNights(trx, sale), texts }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { problems: error.errors ?? [{ field: 'rooms', message: error.message }], texts: [] }
  }
}

type QuotedTexts = Record<'unitTypeName' | 'ratePlanName' | 'cancellation' | 'noShow' | 'deposit', string>

/** A quote with its rooms, the words of its policies, and whether it could be booked now. 404. */
export const readQuote = async (trx: Trx, id: string) => {
  const quote = await preparedOne<StoredQuote>(trx, `select ${quoteColumns} from quote q where q.id = ?`, [id])
  if (!quote) throw notFound()
  const { problems, texts } = await feasibilityOf(trx, quote)
  const status = statusOf(quote)
  return { ...shown(trx, quote), texts, feasible: status === 'open' && problems.length === 0, problems }
}

/** Quotes that expired 180 days ago and were not used; across tenants, ids alone. */
export const purgeableQuotes = (trx: PlatformTrx, most = 500): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from quotes_purgeable(?)`, [most])

export const purgeQuotes = (trx: Trx, ids: readonly string[]) =>
  sql(
    trx,
    `delete from quote q where q.id = any(?::uuid[]) and q.expires_at < now() - interval '180 days' and not exists ${usedBy}`,
    [ids],
  )
