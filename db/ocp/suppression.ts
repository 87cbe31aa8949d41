import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../config/errors.ts'
import { suppressionAdded, suppressionLifted } from '../../config/events/ocp.ts'
import { audit } from '../lib/audit.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { flag, inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { readRow } from '../lib/records.ts'
import { blindIndex, seal, unseal } from '../lib/sealing/index.ts'
import type { SuppressionRow } from '../rows.ts'
import { Suppression } from './models.ts'
import type { ChannelKind } from './rules/contents.ts'

/** Addresses are found by index: e-mail and phone have different ones, SMS and WhatsApp share the number's. */
export const addressIndex = (trx: Trx, kind: ChannelKind, address: string): Buffer =>
  blindIndex(trx, kind === 'email' ? 'email' : 'phone', address)

/** Sending to an address and refusing it come one after the other. */
export const lockAddress = (trx: Trx, index: Buffer): Promise<unknown> =>
  prepared(trx, `select pg_advisory_xact_lock(hashtextextended('message-recipient:' || encode(?::bytea, 'hex'), 0))`, [
    index,
  ])

/** The strictest suppressions in force against addresses on their channels. */
export const suppressionsOf = async (
  trx: Trx,
  indexes: ReadonlyMap<ChannelKind, Buffer>,
): Promise<Map<ChannelKind, 'all' | 'marketing'>> => {
  const wanted = [...indexes].map(([kind, index]) => ({ kind, address: index.toString('hex') }))
  if (wanted.length === 0) return new Map()
  const rows = await prepared<{ kind: ChannelKind; address: string; scope: 'all' | 'marketing' }>(
    trx,
    `select kind, encode(address_index, 'hex') as address, scope from suppression
     where kind = any(?::text[]) and address_index = any(array(select decode(a, 'hex') from unnest(?::text[]) a)) and lifted_at is null`,
    [wanted.map(({ kind }) => kind), [...new Set(wanted.map(({ address }) => address))]],
  )
  const isWanted = (row: (typeof rows)[number]) =>
    wanted.some(({ kind, address }) => kind === row.kind && address === row.address)
  return new Map(rows.filter(isWanted).map(({ kind, scope }) => [kind, scope]))
}

/** As `suppressionsOf`, of one address on one channel. */
export const suppressionOf = async (trx: Trx, kind: ChannelKind, index: Buffer): Promise<'all' | 'marketing' | null> =>
  (await suppressionsOf(trx, new Map([[kind, index]]))).get(kind) ?? null

export type Addition = {
  kind: ChannelKind
  /** Null where it is erased already, and known by its index alone. */
  address: string | null
  index?: Buffer
  scope: 'all' | 'marketing'
  cause: SuppressionRow['cause']
  messageId: string | null
}

const place = (id: string) => ({ table: 'suppression', rowId: id, purpose: 'address' })

/** Nothing more goes to the address on this channel. One that is in force already is only ever made stricter, and told of then. Answers the one in force. */
export const suppress = async (
  trx: Trx,
  { kind, address, index = address === null ? undefined : addressIndex(trx, kind, address), ...rest }: Addition,
): Promise<string> => {
  if (!index) throw new Error('a suppression names an address')
  const { scope, cause, messageId } = rest
  await lockAddress(trx, index)
  const id = randomUUID()
  const { actor } = contextOf(trx)
  const [row] = await sql<Pick<SuppressionRow, 'id' | 'scope' | 'cause' | 'version'>>(
    trx,
    `insert into suppression (id, kind, address_index, address, scope, cause, message_id, created_by) values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant_id, kind, address_index) where lifted_at is null do update set
       scope = case when excluded.scope = 'all' then 'all' else suppression.scope end,
       cause = case when excluded.cause = 'complaint' or (suppression.scope = 'marketing' and excluded.scope = 'all') then excluded.cause else suppression.cause end,
       version = suppression.version + 1
       where (suppression.scope = 'marketing' and excluded.scope = 'all') or (suppression.cause <> 'complaint' and excluded.cause = 'complaint')
     returning id, scope, cause, version`,
    [
      id,
      kind,
      index,
      address === null ? null : await seal(trx, 'tenant', place(id), address),
      scope,
      cause,
      messageId,
      actor.type === 'user' ? actor.id : null,
    ],
  )
  if (row) {
    await emit(trx, suppressionAdded, {
      propertyId: null,
      id: row.id,
      version: row.id === id ? null : row.version,
      data: { suppressionId: row.id, kind, scope: row.scope, cause: row.cause },
    })
    return row.id
  }
  const stands = await sqlOne<{ id: string }>(
    trx,
    `select id from suppression where kind = ? and address_index = ? and lifted_at is null`,
    [kind, index],
  )
  return stands?.id ?? id
}

export type SuppressionRecord = Pick<
  SuppressionRow,
  | 'id'
  | 'kind'
  | 'scope'
  | 'cause'
  | 'messageId'
  | 'createdBy'
  | 'liftedAt'
  | 'liftedBy'
  | 'liftReason'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> & { address: string | null }

const opened = async (
  trx: Trx,
  { address, addressIndex: _index, tenantId: _tenant, ...row }: SuppressionRow,
): Promise<SuppressionRecord> => ({
  ...row,
  address: address ? await unseal<string>(trx, 'tenant', place(row.id), address) : null,
})

type Filter = Paging & { kind?: ChannelKind; cause?: string; address?: string; lifted?: boolean; scope: Condition }

/** Suppressions in force and lifted ones, the newest first. */
export const listSuppressions = async (
  trx: Trx,
  { kind, cause, address, lifted, scope, ...paging }: Filter,
): Promise<Page<SuppressionRecord>> => {
  const indexes =
    address === undefined
      ? undefined
      : [blindIndex(trx, 'email', address), blindIndex(trx, 'phone', address)].map((one) => one.toString('hex'))
  const { total, rows } = await readPage<SuppressionRow>(
    trx,
    {
      columns: '*',
      from: 'suppression s',
      conditions: [
        ...inScope(scope, { propertyId: null }),
        ...where('s.kind = ?', kind),
        ...where('s.cause = ?', cause),
        ...where(`encode(s.address_index, 'hex') = any(?)`, indexes),
        ...flag('s.lifted', lifted),
      ],
      order: 's.created_at desc, s.id',
    },
    paging,
  )
  return { total, rows: await Promise.all(rows.map((row) => opened(trx, row))) }
}

/** 404 */
export const readSuppression = async (trx: Trx, id: string): Promise<SuppressionRecord> =>
  opened(trx, await readRow(trx, Suppression, id))

/** Lets messages go to an address again. 422 `lift_not_allowed` for one by complaint. The caller holds the row. */
export const liftSuppression = async (trx: Trx, id: string, reason: string): Promise<void> => {
  const row = await readRow(trx, Suppression, id)
  if (row.liftedAt) return
  if (row.cause === 'complaint')
    throw unprocessable('lift_not_allowed', 'The recipient complained: this suppression stays')
  const { actor } = contextOf(trx)
  await sql(
    trx,
    `update suppression set lifted_at = clock_timestamp(), lifted_by = ?, lift_reason = ?, version = version + 1 where id = ?`,
    [actor.type === 'user' ? actor.id : null, reason, id],
  )
  const { kind, scope, cause } = row
  await audit(trx, { action: 'suppression.lift', subjectType: 'suppression', subjectId: id, reason })
  await emit(trx, suppressionLifted, {
    propertyId: null,
    id,
    version: row.version + 1,
    data: { suppressionId: id, kind, scope, cause },
  })
}
