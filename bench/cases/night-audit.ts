import { randomUUID } from 'node:crypto'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import { auditSteps } from '../../db/night-audit/audits.ts'
import { makeLateHouse, makeStays, readAudit, readStay, request } from '../../test/night-audit/support.ts'
import type { Database } from '../../test/support/database.ts'
import type { Bench } from '../bench.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const count = sized(1_000, 200)

const id = (kind: string) => `('${kind}0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`

/** Copies of a stay in the house, each in a unit of its own. */
const multiply = async ({ admin }: Database, stay: { id: string; bookingId: string }) => {
  const copy = async (table: string, where: string, values: string[], changes: string) => {
    const columns = await sql<{ list: string }>(
      admin,
      `select string_agg(quote_ident(column_name), ', ') as list from information_schema.columns
       where table_schema = 'public' and table_name = ? and is_generated = 'NEVER'`,
      [table],
    )
    const { list = '' } = columns[0] ?? {}
    const from = list.replaceAll(/[^, ]+/g, 'copied.$&')
    return `insert into ${table} (${list}) select ${from} from ${table} one, generate_series(1, ${count - 1}) n,
       lateral jsonb_populate_record(one, jsonb_build_object(${changes})) copied where ${where.replace('?', `'${values[0] ?? ''}'`)}`
  }
  const copies = [
    await copy(
      'booking',
      'one.id = ?',
      [stay.bookingId],
      `'id', ${id('b')}, 'number', translate(lpad(to_hex(n), 8, '0'), 'abcdef', 'ABCDEF'), 'quote_id', gen_random_uuid()`,
    ),
    await copy('reservation', 'one.id = ?', [stay.id], `'id', ${id('a')}, 'booking_id', ${id('b')}`),
    await copy('reservation_night', 'one.reservation_id = ?', [stay.id], `'reservation_id', ${id('a')}`),
    await copy(
      'reservation_extra',
      'one.reservation_id = ?',
      [stay.id],
      `'id', gen_random_uuid(), 'reservation_id', ${id('a')}`,
    ),
    await copy(
      'folio',
      'one.reservation_id = ?',
      [stay.id],
      `'id', ${id('f')}, 'reservation_id', ${id('a')}, 'number', 'N' || n`,
    ),
    await copy(
      'unit',
      `one.id = (select unit_id from unit_assignment where reservation_id = ?)`,
      [stay.id],
      `'id', ${id('e')}, 'name', 'N' || n`,
    ),
    await copy(
      'unit_assignment',
      'one.reservation_id = ?',
      [stay.id],
      `'id', gen_random_uuid(), 'reservation_id', ${id('a')}, 'unit_id', ${id('e')}`,
    ),
  ]
  await admin.transaction(async (trx) => {
    // The rows are as they should be; what it takes to book them is not what is measured.
    await sql(trx, `set local session_replication_role = replica`)
    for (const text of copies) await sql(trx, text)
  })
  await sql(admin, `vacuum analyze`)
}

/** The close of a day of a full house, one transaction after the other as its job makes them. */
export const bench: Bench = async (database) => {
  const house = await makeLateHouse(1, { units: 2 })
  const [first = ''] = await makeStays(house, 1, { from: -1, nights: 3, checkedIn: true })
  await multiply(database, await readStay(house, first))
  const { id: audit } = await request(house, house.day(-1))
  const runner = randomUUID()
  const took: { step: string | null; ms: number }[] = []
  const startedAt = performance.now()
  for (let state = 'more'; state === 'more';) {
    const from = performance.now()
    state = await house.inHouse((trx) => advanceNightAudit(trx, audit, runner))
    const ms = performance.now() - from
    took.push({ step: (await readAudit(house, audit)).step, ms })
  }
  const wholeMs = performance.now() - startedAt
  const charged = await house.inHouse((trx) =>
    sqlOne<{ nights: number; lines: number; postings: number }>(
      trx,
      `select (select count(*)::int from reservation_night where status = 'charged') as nights, (select count(*)::int from folio_line) as lines,
         (select count(*)::int from posting_event) as postings`,
    ),
  )
  if (charged?.nights !== count) throw new Error(`${charged?.nights} nights are charged, and not ${count}`)
  const times = took.map((one) => one.ms)
  const ofSteps = auditSteps
    .map((step) => {
      const own = took.filter((one) => one.step === step)
      return `${step} ${Math.round(own.reduce((sum, one) => sum + one.ms, 0))} ms in ${own.length}`
    })
    .join(', ')
  return {
    results: [
      judge(
        { name: `close of a day with ${count} stays in the house`, unit: 's', ours: wholeMs / 1_000, reference: null },
        { most: 30 },
      ),
      judge(
        { name: 'its longest transaction', unit: 's', ours: Math.max(...times) / 1_000, reference: null },
        { most: 2 },
      ),
      judge({ name: 'its transactions, p50', unit: 's', ours: percentile(times, 0.5) / 1_000, reference: null }, null),
    ],
    notes: [
      `${charged.lines} lines of folios and ${charged.postings} postings in ${took.length} transactions: ${ofSteps}.`,
      'Each stay has a room with breakfast in its price, two extras, and taxes inside and on top; the ledger posts beside it, by jobs of its own.',
    ],
  }
}
