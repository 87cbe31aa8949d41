import { matchGuest } from '../../jobs/guests.ts'
import { contextOf, prepared, preparedOne, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { plainText, unsealGuests } from '../lib/sealing/index.ts'
import type { GuestRow } from '../rows.ts'
import { profilePlace } from './profile.ts'
import type { GuestProfile } from './profile.ts'
import { leastListed, scoreOf } from './rules/scores.ts'
import type { MatchKind } from './rules/scores.ts'

/** Candidates that one guest is compared with, of each kind of match: what more profiles share tells nothing. */
const mostCandidates = 50

/** Asks for a comparison of a guest with all others, after the commit. */
export const askForMatch = async (trx: Trx, guestId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  if (tenantId !== null) await enqueue(trx, matchGuest, { tenantId, guestId })
}

type Candidate = Pick<GuestRow, 'id' | 'sealed'> & {
  hasDocument: boolean
  hasEmail: boolean
  hasPhone: boolean
  hasNameBirth: boolean
  isAlike: boolean
}

// A similar name in one city weighs less than what is listed, so it never makes a pair by itself: candidates are those with another match.
const candidates = `
  with self as (select * from guest where id = :guestId),
  members as (select g.id from guest g where g.id = :guestId or g.merged_into_id = :guestId),
  papers as (select distinct d.number_index, d.kind, d.country_code from guest_document d join members m on m.id = d.guest_id where d.status <> 'rejected'),
  found as (
    (select coalesce(g.merged_into_id, g.id) as id, 'document' as kind from papers p
       join guest_document d on d.number_index = p.number_index and d.status <> 'rejected' and d.kind = p.kind
         and (d.country_code = p.country_code or 'ZZ' in (d.country_code, p.country_code))
       join guest g on g.id = d.guest_id limit :most)
    union all (select coalesce(g.merged_into_id, g.id), 'email' from self s join guest g on g.email_index = s.email_index limit :most)
    union all (select coalesce(g.merged_into_id, g.id), 'phone' from self s join guest g on g.phone_index = s.phone_index limit :most)
    union all (select coalesce(g.merged_into_id, g.id), 'name_birth' from self s
       join guest g on g.name_index = s.name_index and g.birth_index = s.birth_index limit :most))
  select g.id, g.sealed, bool_or(f.kind = 'document') as has_document, bool_or(f.kind = 'email') as has_email,
    bool_or(f.kind = 'phone') as has_phone, bool_or(f.kind = 'name_birth') as has_name_birth,
    similarity(g.name_search, (select name_search from self)) >= 0.6 as is_alike
  from found f join guest g on g.id = f.id
  where g.status = 'active' and g.id not in (select id from members)
  group by g.tenant_id, g.id, g.sealed, g.name_search order by g.id`

const cityOf = (profile: GuestProfile | null): string => plainText(profile?.address?.city ?? '')

/**
 * Compares a guest with those who have a document, an e-mail, a telephone or a name with birth date in common, and lists probable duplicates
 * (R6). Pairs that do not match any more are dropped; a dismissed pair is proposed again only when a document matches, a merged one once its merge was undone.
 * Running it twice changes nothing.
 */
export const matchGuests = async (trx: Trx, guestId: string): Promise<void> => {
  const self = await preparedOne<Pick<GuestRow, 'id' | 'sealed' | 'status'>>(
    trx,
    `select id, sealed, status from guest where id = ?`,
    [guestId],
  )
  if (self?.status !== 'active') return
  const found = await prepared<Candidate>(trx, candidates, { guestId, most: mostCandidates })
  const [own = null, ...others] = await unsealGuests<GuestProfile>(
    trx,
    'profile',
    [self, ...found].map(({ id, sealed }) => ({ guestId: id, place: profilePlace(id), sealed })),
  )
  const city = cityOf(own)
  const pairs = found
    .map((one, index) => {
      const isNear = one.isAlike && city !== '' && cityOf(others[index] ?? null) === city
      const matches: MatchKind[] = [
        ...(one.hasDocument ? (['document'] as const) : []),
        ...(one.hasEmail ? (['email'] as const) : []),
        ...(one.hasPhone ? (['phone'] as const) : []),
        ...(one.hasNameBirth ? (['name_birth'] as const) : []),
        ...(isNear ? (['name_city'] as const) : []),
      ]
      return { otherId: one.id, matches, score: scoreOf(matches) }
    })
    .filter(({ score }) => score >= leastListed)
  await sql(
    trx,
    `delete from guest_duplicate where status = 'open' and (guest_a = ? or guest_b = ?)
       and (case guest_a when ? then guest_b else guest_a end) <> all(?::uuid[])`,
    [guestId, guestId, guestId, pairs.map((pair) => pair.otherId)],
  )
  for (const { otherId, matches, score } of pairs)
    await sql(
      trx,
      `insert into guest_duplicate (guest_a, guest_b, score, matches)
       values (least(:guestId::uuid, :otherId::uuid), greatest(:guestId::uuid, :otherId::uuid), :score, :matches)
       on conflict (tenant_id, guest_a, guest_b) do update
         set score = excluded.score, matches = excluded.matches, version = guest_duplicate.version + 1,
           status = 'open', decided_by = null, decided_at = null
       where guest_duplicate.status = 'merged'
         or ((guest_duplicate.score, guest_duplicate.matches) is distinct from (excluded.score, excluded.matches)
           and (guest_duplicate.status = 'open'
           or ('document' = any(excluded.matches) and not 'document' = any(guest_duplicate.matches))))`,
      { guestId, otherId, score, matches },
    )
}
