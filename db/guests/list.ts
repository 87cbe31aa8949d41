import { toE164 } from '../../config/phone-numbers.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { withinTimes } from '../lib/days.ts'
import { inScope, orderBy, readPage, where } from '../lib/paging.ts'
import type { Paging, Part, Sort } from '../lib/paging.ts'
import type { GuestRow } from '../rows.ts'
import { blindIndex, plainText, unsealGuests } from '../lib/sealing/index.ts'
import { presentDay } from '../units/index.ts'
import { holdsAt } from './blocks.ts'
import { profilesOf } from './resolve.ts'
import { maskEmail, maskPhone } from './rules/masks.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'

export const guestSorts = { name: 'g.name_search', createdAt: 'g.created_at', updatedAt: 'g.updated_at' } as const

export type GuestFilter = Paging & {
  q?: string | undefined
  email?: string | undefined
  phone?: string | undefined
  document?: string | undefined
  tag?: string | undefined
  status: 'active' | 'merged' | 'erased'
  blocked?: 'warn' | 'refuse' | undefined
  /** With a stay that was booked for this firm, in a house that the caller is for. */
  companyId?: string | undefined
  updatedSince?: string | undefined
  sort: Sort<keyof typeof guestSorts>
  /** These alone, in whatever state they are. */
  ids?: readonly string[]
  /** The guests that the caller may read; they belong to no property, and what is told of their stays does. */
  scope: Condition
}

/** Most guests that a search goes through: a word that finds more is too common. */
const mostFound = 2_000

type Found = Pick<GuestFilter, 'q' | 'email' | 'phone' | 'document'>
const ids = (rows: { id: string }[]) => rows.map((row) => row.id)

const byIndex = async (trx: Trx, column: 'email_index' | 'phone_tail_index', index: Buffer) =>
  ids(await sql<{ id: string }>(trx, `select id from guest where ?? = ? limit ?`, [column, index, mostFound]))
/** A whole telephone number, also as people of the houses' countries write it among themselves. */
const byPhone = async (trx: Trx, text: string): Promise<string[]> => {
  const countries = text.trim().startsWith('+')
    ? []
    : await sql<{ country: string }>(
        trx,
        `select distinct address ->> 'countryCode' as country from property where address ->> 'countryCode' is not null`,
      )
  const numbers = [text, ...countries.flatMap(({ country }) => toE164(text, country) ?? [])]
  const indexes = numbers.map((number) => blindIndex(trx, 'phone', number))
  return ids(
    await sql<{ id: string }>(trx, `select id from guest where phone_index = any(?::bytea[]) limit ?`, [
      indexes,
      mostFound,
    ]),
  )
}
const byDocument = async (trx: Trx, number: string) =>
  ids(
    await sql<{ id: string }>(trx, `select guest_id as id from guest_document where number_index = ? limit ?`, [
      blindIndex(trx, 'document', number),
      mostFound,
    ]),
  )
const byWords = async (trx: Trx, words: string[]) =>
  ids(await sql<{ id: string }>(trx, `select id from guests_by_words(?::text[], ?)`, [words, mostFound]))
const byPattern = async (trx: Trx, words: string[]) =>
  ids(
    await sql<{ id: string }>(trx, `select id from guests_named(?::text[], ?)`, [
      words.map((word) => `%${word}%`),
      mostFound,
    ]),
  )

/** Finds guests by one text (R1): an e-mail, the end of a phone number, a whole number, or words of a name. */
const byText = async (trx: Trx, q: string): Promise<string[]> => {
  const text = q.trim()
  if (text.includes('@')) return byIndex(trx, 'email_index', blindIndex(trx, 'email', text))
  const digits = text.replace(/\D/g, '')
  if (/^[\d\s+().\-/]+$/.test(text) && digits !== '') {
    if (digits.length === 4) return byIndex(trx, 'phone_tail_index', blindIndex(trx, 'phone_tail', digits))
    return [...(await byPhone(trx, text)), ...(await byDocument(trx, text))]
  }
  const words = plainText(text).split(' ').filter(Boolean)
  if (words.join('').length < 3) return []
  // The beginnings of words are what people type; a part from the middle is looked for where these find nobody.
  const found = await byWords(trx, words)
  if (found.length > 0) return found
  const inside = await byPattern(trx, words)
  // No name has digits: a number with letters is that of a document.
  return inside.length === 0 && /\d/.test(text) ? byDocument(trx, text) : inside
}

/**
 * Profiles that a search finds, merged ones by their survivor; null where nothing is searched for. Only blind indexes and names are
 * looked at: nothing is opened.
 */
export const findGuests = async (trx: Trx, { q, email, phone, document }: Found): Promise<string[] | null> => {
  const found: string[][] = []
  if (q !== undefined) found.push(await byText(trx, q))
  if (email !== undefined) found.push(await byIndex(trx, 'email_index', blindIndex(trx, 'email', email)))
  if (phone !== undefined) found.push(await byPhone(trx, phone))
  if (document !== undefined) found.push(await byDocument(trx, document))
  if (found.length === 0) return null
  const survivors = await Promise.all(found.map((list) => survivorsOf(trx, list)))
  return (survivors[0] ?? []).filter((id) => survivors.every((list) => list.includes(id)))
}

/** Every profile of the guests that a search finds: records of other modules may name any of them. */
export const findProfiles = async (trx: Trx, search: Found): Promise<string[]> =>
  profilesOf(trx, (await findGuests(trx, search)) ?? [])

const survivorsOf = async (trx: Trx, guestIds: string[]) =>
  guestIds.length === 0
    ? []
    : ids(
        await sql<{ id: string }>(
          trx,
          `select distinct coalesce(merged_into_id, id) as id from guest where id = any(?::uuid[])`,
          [guestIds],
        ),
      )

type Row = GuestRow & { blocked: 'warn' | 'refuse' | null; inHouse: boolean; nextArrival: string | null }

/** Ids of a profile `g` and of those that are merged into it: blocks and stays of any of them are those of the guest (R14). */
const group = `array(select g.id union all select m.id from guest m where m.tenant_id = g.tenant_id and m.merged_into_id = g.id)`

/** Tells whether a block `b` holds in one of the caller's houses, each on its own day. In houses that are closed none does. */
const isInForce = (scope: Condition): Part => ({
  text: `exists (select from property y where y.tenant_id = b.tenant_id and y.status <> 'archived' and ? and ${holdsAt('b', 'y')})`,
  values: [whereOf(scope, { propertyId: 'y.id' })],
})

/**
 * Narrows profiles `g` to those whose strictest block has a level, of their own or of a profile merged into them. Begins at the blocks, which are few;
 * levels are in the order of the alphabet, the strictest first.
 */
const withBlock = (inForce: Part, level: 'warn' | 'refuse'): Part => ({
  text: `g.id in (select x.id from guest_block b join guest m on m.tenant_id = b.tenant_id and m.id = b.guest_id
    cross join lateral (values (m.id), (m.merged_into_id)) as x (id) where ${inForce.text} group by x.id having min(b.level) = ?)`,
  values: [...inForce.values, level],
})

/** Narrows profiles `g` to those who stay or stayed on a booking for a firm. Begins at the bookings of the firm. */
const withCompany = (scope: Condition, companyId: string): Part => ({
  text: `g.id in (select x.id from booking k join reservation r on r.tenant_id = k.tenant_id and r.booking_id = k.id
    join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id
    join guest m on m.tenant_id = n.tenant_id and m.id = n.guest_id
    cross join lateral (values (m.id), (m.merged_into_id)) as x (id) where k.company_id = ? and ?)`,
  values: [companyId, whereOf(scope, { propertyId: 'k.property_id' })],
})

/** A page of profiles, personal data masked (R9). */
export const listGuests = async (trx: Trx, filter: GuestFilter) => {
  const found = filter.ids ?? (await findGuests(trx, filter))
  const order = orderBy(filter.sort, guestSorts, 'g.id', ['name'])
  const inForce = isInForce(filter.scope)
  const withStays = (page: Part): Part => ({
    text: `select g.*, (select b.level from guest_block b where b.tenant_id = g.tenant_id and b.guest_id = any(${group})
         and ${inForce.text} order by b.level limit 1) as blocked, s.in_house, s.next_arrival
     from (${page.text}) g
     cross join lateral (
       select coalesce(bool_or(r.status = 'checked_in'), false) as in_house,
         min(r.arrival) filter (where r.status = 'confirmed' and r.arrival >= ${presentDay('y')}) as next_arrival
       from reservation_guest n join reservation r on r.tenant_id = n.tenant_id and r.id = n.reservation_id
         join property y on y.tenant_id = r.tenant_id and y.id = r.property_id
       where n.tenant_id = g.tenant_id and n.guest_id = any(${group}) and ?) s
     order by ${order}`,
    values: [...inForce.values, ...page.values, whereOf(filter.scope, { propertyId: 'r.property_id' })],
  })
  const { total, rows } = await readPage<Row>(
    trx,
    {
      columns: 'g.*',
      from: 'guest g',
      conditions: [
        ...(filter.ids ? [] : where('g.status = ?', filter.status)),
        ...inScope(filter.scope, { propertyId: null }),
        ...where('g.id = any(?::uuid[])', found),
        ...where('? = any(g.tags)', filter.tag),
        ...(filter.companyId === undefined ? [] : [withCompany(filter.scope, filter.companyId)]),
        ...(filter.blocked === undefined ? [] : [withBlock(inForce, filter.blocked)]),
      ],
      days: withinTimes('g.updated_at', { from: filter.updatedSince }, '<='),
      order,
      around: withStays,
    },
    filter,
  )
  const profiles = await unsealGuests<GuestProfile>(
    trx,
    'profile',
    rows.map((row) => ({ guestId: row.id, place: profilePlace(row.id), sealed: row.sealed })),
  )
  return { total, rows: rows.map((row, index) => shown(row, profiles[index] ?? null)) }
}

const shown = (row: Row, profile: GuestProfile | null) => {
  const email = profile?.email ?? null
  const phone = profile?.phone ?? null
  return {
    id: row.id,
    status: row.status,
    firstName: row.firstName,
    lastName: row.lastName,
    preferredName: row.preferredName,
    language: row.language,
    nationality: row.nationality,
    residenceCountry: row.residenceCountry,
    email: email === null ? null : maskEmail(email),
    phone: phone === null ? null : maskPhone(phone),
    masked: [...(email === null ? [] : (['email'] as const)), ...(phone === null ? [] : (['phone'] as const))],
    tags: row.tags,
    blocked: row.blocked ?? ('none' as const),
    inHouse: row.inHouse,
    nextArrival: row.nextArrival,
    source: row.source,
    mergedIntoId: row.mergedIntoId,
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** Rows of the list for these guests, by id. */
export const guestsOf = async (trx: Trx, guestIds: readonly string[], scope: Condition) => {
  const ids = [...new Set(guestIds)]
  if (ids.length === 0) return new Map<string, ReturnType<typeof shown>>()
  const { rows } = await listGuests(trx, { ids, page: 1, limit: ids.length, status: 'active', sort: [], scope })
  return new Map(rows.map((row) => [row.id, row]))
}
