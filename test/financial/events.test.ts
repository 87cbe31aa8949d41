import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { postingOf } from '../../config/financial.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { accountFor, postingEventOf, raisePosting } from '../../db/financial/index.ts'
import type { Posting } from '../../db/financial/index.ts'
import { PostingError } from '../../db/financial/rules/selectors.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse, post } from './support.ts'
import { mirrors, ordinary, payloadOf } from './payloads.ts'
import { postedLines } from './posted-accounts.ts'
import type { PostedLine } from './posted-accounts.ts'

describe('every event of the table', () => {
  useDatabase()

  it('becomes one entry in a book, and its mirror turns it', async () => {
    const house = await makeHouse()
    const { tenantId, bookId, propertyId, today } = house
    const accounts = await inTenant(tenantId, async (trx) => ({
      money: await accountFor(trx, bookId, 'bank'),
      from: await accountFor(trx, bookId, 'bank'),
      to: await accountFor(trx, bookId, 'safe'),
      account: await accountFor(trx, bookId, 'bad_debt'),
    }))
    const raised: { source: string; event: string; expected: PostedLine[] }[] = []
    for (const definition of ordinary) {
      const samples = fc.sample(payloadOf(definition, accounts), { numRuns: 3, seed: 7 })
      await inTenant(tenantId, async (trx) => {
        for (const payload of samples) {
          const dating = definition.dated === 'document' ? { postingDate: today } : {}
          const source = randomUUID()
          raised.push({ source, event: definition.event, expected: postedLines(definition, payload) })
          await raisePosting(trx, {
            event: definition.event,
            source: { id: source },
            propertyId,
            payload,
            ...dating,
          })
        }
      })
    }
    await post(house)
    await post(house)
    // Each row of the table names its accounts: by role, or as the payload gave them.
    const given = new Map(Object.entries(accounts).map(([name, id]) => [`name:${name}`, id]))
    const kept = await inTenant(tenantId, (trx) =>
      sql<{ source: string; role: string | null; accountId: string; debit: number; credit: number }>(
        trx,
        `select e.source_id as source, a.role, a.id as account_id, l.debit, l.credit from journal_entry e
         join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
         where e.book_id = ?`,
        [bookId],
      ),
    )
    const told = (account: string, debit: number, credit: number) => `${account} D ${debit} C ${credit}`
    for (const { source, event, expected } of raised)
      expect(
        kept.filter((line) => line.source === source).map((line) => told(line.accountId, line.debit, line.credit)),
        event,
      ).to.have.members(
        expected.map(({ account, debit, credit }) =>
          told(given.get(account) ?? kept.find(({ role }) => role === account)?.accountId ?? account, debit, credit),
        ),
      )
    for (const definition of mirrors) {
      await inTenant(tenantId, async (trx) => {
        for (const [seq, original] of definition.mirrors.entries()) {
          const [event] = await sql<{ id: string }>(
            trx,
            `select e.id from posting_event e where e.event = ? and not exists (select from posting_event m where m.reverses_event_id = e.id) limit 1`,
            [original],
          )
          await raisePosting(trx, {
            event: definition.event,
            source: { id: randomUUID(), seq },
            propertyId,
            reversesEventId: event?.id ?? '',
          })
        }
      })
    }
    await post(house)
    const events = await inTenant(tenantId, (trx) =>
      sql<{ event: string; status: string; errorMessage: string | null }>(
        trx,
        `select event, status, error_message from posting_event`,
      ),
    )
    expect(events.filter(({ status }) => status !== 'posted')).to.deep.equal([])
    expect(events).to.have.length(
      ordinary.length * 3 + mirrors.reduce((n, { mirrors: turned }) => n + turned.length, 0),
    )
    expect(
      (await inTenant(tenantId, (trx) => checkBook(trx, bookId))).filter(
        // The events name payments and folios that are not there.
        ({ status, check }) => status !== 'passed' && !check.startsWith('control_'),
      ),
    ).to.deep.equal([])
  })

  it('is raised once per source, and only with what it needs', async () => {
    const house = await makeHouse()
    const source = { id: randomUUID() }
    const payload = { amounts: { amount: 100 }, documents: { payment: source.id } }
    const raise = () =>
      inTenant(house.tenantId, (trx) =>
        raisePosting(trx, { event: 'payment.payment_captured', source, propertyId: house.propertyId, payload }),
      )
    const first = await raise()
    expect(await raise()).to.deep.equal({ ...first, repeated: true })
    expect(await inTenant(house.tenantId, (trx) => postingEventOf(trx, 'payment.payment_captured', source))).to.equal(
      first.id,
    )
    const [jobs] = await inTenant(house.tenantId, (trx) =>
      sql<{ count: number }>(trx, `select count(*) as count from jobs where kind = 'ledger.post'`),
    )
    expect(jobs?.count).to.equal(1)
    const place = { propertyId: house.propertyId }
    const failing: Posting[] = [
      { event: 'financial.manual', source, ...place, payload },
      { event: 'payment.payment_reversed', source, ...place, payload },
      { event: 'payment.payment_reversed', source, ...place, reversesEventId: first.id },
      { event: 'payment.payment_captured', source: { id: randomUUID() }, propertyId: randomUUID(), payload },
      { event: 'payment.payment_captured', source: { id: randomUUID() }, bookId: randomUUID(), payload },
      {
        event: 'payment.payment_captured',
        source: { id: randomUUID() },
        ...place,
        payload: { ...payload, documents: { payment: 'x' } },
      },
      {
        event: 'payment.payout_sent',
        source: { id: randomUUID() },
        ...place,
        payload: { amounts: { amount: 1 }, documents: { payout: source.id, account: source.id } },
      },
    ]
    for (const posting of failing) {
      const error = await inTenant(house.tenantId, (trx) => raisePosting(trx, posting)).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error, JSON.stringify(posting)).to.be.instanceOf(PostingError)
    }
    expect(postingOf('payment.payment_reversed').mirrors).to.deep.equal(['payment.payment_recorded'])
  })
})
