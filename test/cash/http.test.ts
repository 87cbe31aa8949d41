import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { post } from '../financial/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'

describe('A day of a register over HTTP', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let finance: Desk
  let reception: Desk
  let other: Desk
  let ids: Record<'bank' | 'safe' | 'register' | 'second', string>
  let expense: string

  const send = (desk: Desk, path: string, body: object = {}) =>
    desk.send('POST', `cash/${path}`, body, { idempotencyKey: randomUUID() })
  const refused = async (desk: Desk, path: string, body: object = {}) => {
    const { status, body: said } = await send(desk, path, body)
    return [status, said.code]
  }
  const account = async (kind: string, code: string, amount: number, more: object = {}) =>
    done(
      await send(finance, 'accounts', {
        kind,
        code,
        name: code,
        propertyId: house.propertyId,
        opening: { amount, on: house.today },
        ...more,
      }),
      201,
    ).id as string
  const balance = async (id: string) => done(await owner.get(`cash/accounts/${id}`)).balance as number

  before(async () => {
    house = await makeHouse({ units: 1 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
    finance = await openDesk(world, house, 'finance')
    reception = await openDesk(world, house, 'receptionist')
    other = await openDesk(world, house, 'receptionist')
    const safe = await account('safe', 'SAFE', 100_000)
    ids = {
      bank: await account('bank', 'BANK', 1_000_000),
      safe,
      register: await account('register', 'REG-1', 20_000, { safeAccountId: safe, differenceLimit: 100 }),
      second: await account('register', 'REG-2', 5_000),
    }
    const [found] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from account where code = '6.1.10'`),
    )
    expense = found?.id ?? ''
  })
  beforeEach(() => forgetLimits(world))

  const open = async (desk: Desk, registerId = ids.register, count: object = { '10000': 2 }) =>
    done(await send(desk, 'sessions', { registerId, count }), 201)

  it('opens blind, takes supply and money, closes with a difference, and is approved by another person', async () => {
    const opened = await open(reception)
    const path = `sessions/${opened.id}`
    expect(opened).to.include({ status: 'open', opening: 20_000, openingDifference: 0, expected: null, totals: null })
    expect(await refused(other, 'sessions', { registerId: ids.register, count: {} })).to.deep.equal([
      409,
      'session_open',
    ])
    expect(await refused(reception, 'sessions', { registerId: ids.second, count: {} })).to.deep.equal([
      409,
      'session_open',
    ])

    const supply = {
      fromAccountId: ids.safe,
      toAccountId: ids.register,
      method: 'manual',
      amount: 10_000,
      purpose: 'Change',
    }
    const made = done(await send(reception, 'transfers', supply), 201)
    expect(made).to.include({ status: 'completed', sentOn: house.today, receivedOn: house.today })
    expect(await refused(reception, 'transfers', { ...supply, fromAccountId: ids.bank })).to.deep.equal([
      403,
      'forbidden',
    ])
    expect(await refused(other, 'transfers', supply)).to.deep.equal([403, 'forbidden'])

    const flowers = { cashAccountId: ids.register, amount: -2_500, accountId: expense, description: 'Flowers' }
    const paid = done(await send(reception, 'movements', flowers), 201)
    expect(paid).to.include({ sessionId: opened.id, bookedOn: house.today, kind: 'manual' })
    expect(await refused(reception, 'movements', { ...flowers, amount: -27_501 })).to.deep.equal([422, 'cash_short'])
    expect(await refused(other, 'movements', flowers)).to.deep.equal([403, 'forbidden'])

    const wrong = done(await send(owner, 'movements', { ...flowers, amount: -100 }), 201)
    const undo = await Promise.all(
      Array.from({ length: 20 }, () => send(owner, `movements/${wrong.id}/reverse`, { reason: 'Wrong' })),
    )
    // Repeated, it answers what turned it.
    expect(new Set(undo.map(({ status, body }) => `${status} ${body.id}`)).size).to.equal(1)
    expect(undo[0]?.body).to.include({ kind: 'reversal', amount: 100, reversesId: wrong.id })

    // Nothing tells the cashier what the drawer should hold.
    const seen = done(await reception.get(`cash/${path}`))
    expect(seen).to.include({ expected: null, difference: null, totals: null })
    expect(done(await reception.get(`cash/accounts/${ids.register}`)).balance).to.equal(null)
    const own = done(await reception.get(`cash/movements?cashAccountId=${ids.register}`))
    expect(own.data.some((one: Parsed) => 'balanceAfter' in one)).to.equal(false)
    expect(done(await owner.get(`cash/${path}`)).expected).to.equal(27_500)

    expect(await refused(other, `${path}/close`, { count: { '10000': 2 } })).to.deep.equal([403, 'forbidden'])
    const over = { count: { '10000': 2, '500': 14 }, drop: { amount: 27_001 } }
    expect(await refused(reception, `${path}/close`, over)).to.deep.equal([422, 'cash_short'])
    const closing = {
      count: { '10000': 2, '500': 14 },
      drop: { amount: 7_000 },
      declared: { terminal: 500 },
      note: 'Slow day',
    }
    const closed = done(await send(reception, `${path}/close`, closing))
    expect(closed).to.include({ status: 'in_review', expected: 27_500, counted: 27_000, difference: -500, zNumber: 1 })
    expect(closed.counts.map((one: Parsed) => [one.moment, one.total])).to.deep.equal([
      ['opening', 20_000],
      ['closing', 27_000],
    ])
    expect(await balance(ids.register)).to.equal(20_000)
    expect(await balance(ids.safe)).to.equal(97_000)
    expect(await refused(reception, 'movements', flowers)).to.deep.equal([422, 'session_required'])
    expect(await refused(reception, `movements/${paid.id}/reverse`, { reason: 'Wrong' })).to.deep.equal([
      403,
      'forbidden',
    ])
    expect(await refused(owner, `movements/${paid.id}/reverse`, { reason: 'Wrong' })).to.deep.equal([
      422,
      'session_closed',
    ])

    expect(done(await send(owner, `${path}/approve`, { note: 'Seen' }))).to.include({ status: 'closed', note: 'Seen' })
    const again = await open(reception)
    expect(again.openingDifference).to.equal(0)
    const flat = done(await send(reception, `sessions/${again.id}/close`, { count: { '10000': 2, '100': 1 } }))
    expect(flat).to.include({ status: 'closed', difference: 100, zNumber: 2 })
  })

  it('nobody approves what they counted', async () => {
    const session = await open(owner, ids.second, {})
    expect(session).to.include({ openingDifference: -5_000, expected: 0 })
    done(await send(owner, `sessions/${session.id}/close`, { count: { '100': 1 } }))
    expect(await refused(owner, `sessions/${session.id}/approve`)).to.deep.equal([403, 'self_approval'])
    done(await send(finance, `sessions/${session.id}/approve`))
  })

  it('money in transit arrives, and what was recorded wrongly is undone', async () => {
    const before = await balance(ids.bank)
    const given = {
      fromAccountId: ids.safe,
      toAccountId: ids.bank,
      method: 'manual',
      amount: 9_000,
      fee: 100,
      purpose: 'Deposit',
    }
    const sent = done(await send(finance, 'transfers', given), 201)
    expect(sent.status).to.equal('in_transit')
    expect(await balance(ids.bank)).to.equal(before)
    const early = { receivedOn: '2020-01-01' }
    expect(await refused(finance, `transfers/${sent.id}/confirm`, early)).to.deep.equal([422, 'date_out_of_range'])
    const arrived = done(await send(finance, `transfers/${sent.id}/confirm`, { receivedOn: house.today }))
    expect(arrived.status).to.equal('completed')
    expect(await balance(ids.bank)).to.equal(before + 9_000)
    const listed = done(await finance.get(`cash/movements?cashAccountId=${ids.bank}`))
    expect(listed.data.map((one: Parsed) => one.balanceAfter)).to.deep.equal([before + 9_000, before])
    done(await send(finance, `transfers/${sent.id}/cancel`, { reason: 'Never moved' }))
    expect(await balance(ids.bank)).to.equal(before)
    const pix = {
      fromAccountId: ids.bank,
      payee: { keyType: 'email', key: 'a@b.example' },
      method: 'pix',
      amount: 5,
      purpose: 'x',
      accountId: expense,
    }
    expect(await refused(finance, 'transfers', pix)).to.deep.equal([422, 'pix_send_unsupported'])
  })

  it('the ledger holds what the accounts say', async () => {
    await post({ tenantId: house.tenantId, bookId: house.bookId, propertyId: house.propertyId, today: house.today })
    const rows = await house.inHouse((trx) =>
      sql<{ role: string; money: number; ledger: number }>(
        trx,
        `select a.role, (select sum(c.balance)::bigint from cash_account c where c.ledger_account_id = a.id) as money,
           (select coalesce(sum(l.debit - l.credit), 0)::bigint from journal_line l where l.account_id = a.id) as ledger
         from account a where a.control = 'cash' and exists (select from cash_account c where c.ledger_account_id = a.id)
         union all
         select a.role, 0, (select coalesce(sum(l.debit - l.credit), 0)::bigint from journal_line l where l.account_id = a.id)
         from account a where a.role = 'money_in_transit'`,
      ),
    )
    expect(rows).to.have.length(4)
    for (const { role, money, ledger } of rows) expect(ledger, role).to.equal(money)
    const { currencies } = done(await finance.get(`cash/position?bookId=${house.bookId}&days=2`))
    const [reais] = currencies
    expect(reais.days).to.have.length(2)
    expect(reais.total).to.equal(rows.reduce((sum, one) => sum + one.money, 0))
  })

  it('texts are as long as they may be, and the place of money between books is one of the book', async () => {
    const told = { cashAccountId: ids.bank, amount: -100, accountId: expense }
    const made = done(
      await send(finance, 'movements', { ...told, description: `${'x'.repeat(199)}😀 ${'y'.repeat(98)}` }),
      201,
    )
    expect(made.description).to.have.length(300)
    const reversed = done(
      await send(finance, `movements/${made.id}/reverse`, { reason: `${'x'.repeat(299)}😀${'y'.repeat(199)}` }),
    )
    expect(reversed.description).to.equal('x'.repeat(299))
    const second = done(
      await owner.send('POST', 'financial/books', {
        name: 'Outro',
        legalName: 'Outro Ltda',
        countryCode: 'BR',
        document: '11222333000181',
        taxRegime: 'other',
        currency: 'BRL',
        timeZone: 'America/Sao_Paulo',
        firstYearStartsOn: `${house.today.slice(0, 4)}-01-01`,
        template: 'hotel',
      }),
      201,
    )
    const property = { code: 'OUTRO', slug: `outro-${randomUUID().slice(0, 8)}`, name: 'Outro', kind: 'inn' }
    const place = { timezone: 'America/Sao_Paulo', currency: 'BRL', locales: ['pt-BR'], bookId: second.id }
    const elsewhere = done(await owner.send('POST', 'properties', { ...property, ...place }), 201)
    const between = { cashAccountId: ids.bank, amount: -100, counterBookId: second.id, description: 'Loan' }
    for (const propertyId of [elsewhere.id, randomUUID()]) {
      const { status, body } = await send(owner, 'movements', { ...between, propertyId })
      expect([status, body.code, body.errors?.[0]?.field]).to.deep.equal([422, 'reference_not_found', 'propertyId'])
    }
    expect(done(await send(owner, 'movements', { ...between, propertyId: house.propertyId }), 201).amount).to.equal(
      -100,
    )
  })

  it('an account with money or a session is not archived', async () => {
    expect(await refused(finance, `accounts/${ids.bank}/archive`)).to.deep.equal([422, 'account_not_empty'])
  })
})
