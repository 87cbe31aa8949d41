import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { postWaiting, raisePosting } from '../../db/financial/index.ts'
import { postEntry } from '../../db/financial/post.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import { replay } from '../replay.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const rounds = 3
const seconds = sized(5, 2)
const raised = sized(2_000, 200)
const waiting = sized(5_000, 500)
const inFlight = 4

/** Entries of two lines on one book, each in a transaction of its own, for a while. Answers how many a second. */
const posting = async (house: House, accounts: readonly string[]): Promise<number> => {
  const began = performance.now()
  let done = 0
  const lane = async () => {
    while (performance.now() - began < seconds * 1_000) {
      await post(house, accounts)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return done / ((performance.now() - began) / 1_000)
}

const post = (house: House, [debit = '', credit = '']: readonly string[]) =>
  inTenant(house.tenantId, (trx) => {
    const common = {
      amount: 1_250,
      propertyId: null,
      costCenterId: null,
      partyType: null,
      partyId: null,
      documentType: null,
    } as const
    const rest = { ...common, documentId: null, taxCodeId: null, taxBase: null, memo: '' }
    return postEntry(trx, {
      source: { type: 'financial.manual', id: randomUUID() },
      bookId: house.bookId,
      postingDate: house.today,
      kind: 'standard',
      description: 'Bench',
      lines: [
        { ...rest, accountId: debit, side: 'debit' },
        { ...rest, accountId: credit, side: 'credit' },
      ],
      createdBy: null,
    })
  })

const left = async (house: House): Promise<number> => {
  const [row] = await house.inHouse((trx) =>
    sql<{ waiting: number }>(trx, `select count(*)::int as waiting from posting_event where status = 'pending'`),
  )
  return row?.waiting ?? 0
}

const raise = (house: House) =>
  inTenant(house.tenantId, async (trx) => {
    const payment = randomUUID()
    const from = performance.now()
    await raisePosting(trx, {
      event: 'payment.payment_captured',
      source: { id: payment },
      propertyId: house.propertyId,
      payload: { amounts: { amount: 700 }, documents: { payment }, context: { money: 'gateway' } },
    })
    return performance.now() - from
  })

export const bench: Bench = async () => {
  const house = await makeHouse({ units: 1 })
  const accounts = (
    await house.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `select id from account where book_id = ? and code in ('5.1.09', '1.1.3.80') order by code desc`,
        [house.bookId],
      ),
    )
  ).map(({ id }) => id)
  const once = () => post(house, accounts)
  await once()
  const [one, other] = [await capture(once), await capture(once)]
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await posting(house, accounts))
    theirs.push((await replay(one, other, { url: settings.databaseUrl, seconds, inFlight })).perSecond)
  }
  const raising: number[] = []
  for (let made = 0; made < raised; made += 1) raising.push(await raise(house))
  for (let made = raised; made < waiting; made += 1) await raise(house)
  const from = performance.now()
  // A job posts a batch, and asks for the next.
  for (let batches = 0; batches < waiting && (await left(house)) > 0; batches += 1)
    await postWaiting(house.bookId, (work) => house.inHouse(work))
  const posted = waiting / ((performance.now() - from) / 1_000)
  return {
    results: [
      judge(
        {
          name: 'entries posted on one book',
          unit: 'per second',
          ours: percentile(ours, 0.5),
          reference: percentile(theirs, 0.5),
        },
        { least: 0.5 },
      ),
      judge(
        { name: 'a posting raised, p50', unit: 'ms', ours: percentile(raising, 0.5), reference: null },
        { most: 1 },
      ),
      judge({ name: 'a posting raised, p95', unit: 'ms', ours: percentile(raising, 0.95), reference: null }, null),
      judge({ name: 'events posted together on one book', unit: 'per second', ours: posted, reference: null }, null),
      judge({ name: 'events left', unit: 'events', ours: await left(house), reference: null }, { most: 0 }),
    ],
    notes: [
      `Ours: the command that posts an entry of two lines, in one process, ${inFlight} at a time, each in a transaction of its own; all on one book and the same accounts.`,
      `Reference: pg alone repeats the ${one.length} statements of that transaction with fresh ids, as many at a time.`,
      'Raised: within its transaction, from this process, with its round trip.',
    ],
  }
}
