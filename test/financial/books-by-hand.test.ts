import { expect } from 'chai'
import { provisionParts } from '../../db/admin/index.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { newCpf } from '../guests/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { raiseMany } from './support.ts'

const lines = (amount = 1_250, extra: object = {}) => [
  { accountCode: '5.1.09', debit: amount, ...extra },
  { accountCode: '1.1.3.80', credit: amount },
]

describe('the ledger in the hands of people', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let finance: Desk
  const books = 'financial/books'
  const entries = 'financial/ledger-entries'
  const drafts = 'financial/entry-drafts'

  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 1 })
    owner = await openDesk(world, house, 'owner')
    finance = await openDesk(world, house, 'finance')
  })
  const bookId = () => house.bookId
  const entriesOf = () =>
    inTenant(house.tenantId, (trx) =>
      sql<{ sourceType: string; total: number }>(trx, `select source_type, total from journal_entry order by sequence`),
    )
  const balance = async (code: string): Promise<number> => {
    const { body } = await finance.send('GET', `financial/balances`)
    const data = body.data as { code: string; balance: number }[]
    return data.find((one) => one.code === code)?.balance ?? 0
  }

  it('posts a balanced entry at once, and shows it in lines and balances', async () => {
    const { status, body } = await finance.send('POST', entries, { description: 'Bank fees', lines: lines() })
    expect(status, JSON.stringify(body)).to.equal(201)
    expect(body).to.include({ kind: 'standard', total: 1_250, description: 'Bank fees', late: false })
    expect(body.lines).to.have.length(2)
    expect(await balance('5.1.09')).to.equal(1_250)
    const account = await sqlOneOf<{ id: string }>(`select id from account where code = '5.1.09'`)
    const shown = await finance.send('GET', `financial/chart-of-accounts/${account.id}`)
    expect(shown.body).to.include({ code: '5.1.09', balance: 1_250 })
    const found = await finance.send('GET', `financial/chart-of-accounts/${account.id}/lines`)
    expect(found.body).to.include({ opening: 0, closing: 1_250 })
    expect((found.body.data as object[])[0]).to.include({ debit: 1_250, balance: 1_250, description: 'Bank fees' })
    const searched = await finance.send('GET', 'financial/ledger-lines?amount=1250&q=bank')
    expect(searched.body.data).to.have.length(2)
    // Totals that the balances of periods keep are those of lines that are counted.
    const [{ period }, { lines: all }] = [
      await sqlOneOf<{ period: string }>(`select period_id as period from journal_line limit 1`),
      await sqlOneOf<{ lines: number }>(`select count(*)::int as lines from journal_line`),
    ]
    const kept = async (query: string) =>
      (await finance.send('GET', `financial/ledger-lines?limit=1&${query}`)).body.meta.total as number
    expect(await kept(''))
      .to.equal(all)
      .and.above(1)
    for (const query of [`accountId=${account.id}`, `periodId=${period}`, `accountId=${account.id}&periodId=${period}`])
      expect(await kept(query), query).to.equal(await kept(`${query}&from=2000-01-01`))
    expect(await kept(`periodId=${account.id}`)).to.equal(0)
    expect(found.body.meta.total).to.equal(1)
  })
  const sqlOneOf = <Row>(text: string) =>
    inTenant(house.tenantId, async (trx) => (await sqlOne<Row & object>(trx, text)) as Row)

  it('names every error of a trial at once, and writes nothing', async () => {
    const tried = await finance.send('POST', `${entries}?dryRun=true`, {
      description: 'Trial',
      lines: [
        { accountCode: '5.1.09', debit: 100 },
        { accountCode: '1.1.3', credit: 90 },
        { accountCode: '9.9.99', credit: 10, costCenterId: house.propertyId },
      ],
    })
    expect(tried.status).to.equal(200)
    const errors = tried.body.errors as { field: string; code: string }[]
    expect(errors.map(({ field, code }) => `${field} ${code}`)).to.deep.equal([
      'lines.1.accountCode account_not_usable',
      'lines.2.accountCode reference_not_found',
      'lines.2.costCenterId reference_not_found',
    ])
    const good = await finance.send('POST', `${entries}?dryRun=true`, { description: 'Trial', lines: lines(70) })
    expect(good.body.errors).to.deep.equal([])
    expect((good.body.balances as object[])[0]).to.include({ before: 0, after: 70 })
    expect(await entriesOf()).to.deep.equal([])
  })

  it('refuses what does not balance, groups, control accounts, and closed or locked days, with nothing done', async () => {
    const refused = async (body: object) => {
      const { status, body: told } = await finance.send('POST', entries, { description: 'No', ...body })
      return [status, told.code]
    }
    expect(await refused({ lines: [lines()[0], { accountCode: '1.1.3.80', credit: 1 }] })).to.deep.equal([
      422,
      'entry_not_balanced',
    ])
    expect(await refused({ lines: [{ accountCode: '5.1.09', debit: 5, credit: 5 }, lines(5)[1]] })).to.deep.equal([
      400,
      'validation_failed',
    ])
    const control = await sqlOneOf<{ code: string }>(`select code from account where role = 'guest_ledger'`)
    expect(await refused({ lines: [lines(5)[0], { accountCode: control.code, credit: 5 }] })).to.deep.equal([
      422,
      'account_not_usable',
    ])
    expect(await refused({ lines: lines(), postingDate: '1999-01-01' })).to.deep.equal([422, 'period_missing'])
    expect(await refused({ lines: lines(), postingDate: house.day(40) })).to.deep.equal([422, 'date_out_of_range'])
    expect((await owner.send('PUT', `${books}/${bookId()}/locks`, { lockedUntil: house.day(0) })).status).to.equal(200)
    expect(await refused({ lines: lines(), postingDate: house.day(0) })).to.deep.equal([422, 'date_locked'])
    expect(await entriesOf()).to.deep.equal([])
  })

  it('moves a lock back with a reason and the permission alone', async () => {
    const put = (desk: Desk, body: object) => desk.send('PUT', `${books}/${bookId()}/locks`, body)
    expect((await put(finance, { lockedUntil: house.day(-1) })).status).to.equal(200)
    const refused = await put(finance, { lockedUntil: null, reason: 'again' })
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'forbidden'])
    expect((await put(owner, { lockedUntil: null })).status).to.equal(400)
    expect((await put(owner, { lockedUntil: null, reason: 'The accountant asks for it' })).body.lockedUntil).to.equal(
      null,
    )
  })

  it('reverses a manual entry once, also when twenty ask at once', async () => {
    const { body } = await finance.send('POST', entries, { description: 'Wrong', lines: lines(900) })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        owner.send('POST', `${entries}/${body.id as string}/reverse`, { reason: 'Wrong' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).to.have.length(1)
    expect(answers.filter(({ body: told }) => told.code === 'already_reversed')).to.have.length(19)
    expect(await balance('5.1.09')).to.equal(0)
    const [, reversal] = await entriesOf()
    expect(reversal).to.include({ sourceType: 'financial.reversal', total: 900 })
  })

  it('lets another person approve a draft, never its author', async () => {
    const made = await finance.send('POST', drafts, { description: 'Rent', lines: [lines(5_000)[0]] })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const id = made.body.id as string
    expect(made.body).to.include({ difference: 5_000, total: 5_000, status: 'draft' })
    const unbalanced = await finance.send('POST', `${drafts}/${id}/submit`)
    expect([unbalanced.status, unbalanced.body.code]).to.deep.equal([400, 'validation_failed'])
    expect((await finance.send('PATCH', `${drafts}/${id}`, { lines: lines(5_000) })).body.difference).to.equal(0)
    expect((await finance.send('POST', `${drafts}/${id}/submit`)).body.status).to.equal('submitted')
    expect((await finance.send('PATCH', `${drafts}/${id}`, { description: 'x' })).status).to.equal(409)
    const own = await finance.send('POST', `${drafts}/${id}/approve`, {})
    expect([own.status, own.body.code]).to.deep.equal([403, 'self_approval'])
    const approved = await Promise.all(
      Array.from({ length: 5 }, () => owner.send('POST', `${drafts}/${id}/approve`, { note: 'Seen' })),
    )
    expect(approved.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200])
    expect(await entriesOf()).to.deep.equal([{ sourceType: 'financial.manual', total: 5_000 }])
    const entry = await owner.send('GET', `${entries}/${approved[0]?.body.entryId as string}`)
    expect(entry.body.createdBy).to.equal(made.body.createdBy)
    expect(entry.body.approvedBy).not.to.equal(made.body.createdBy)
  })

  it('asks for a second person above the threshold of the book', async () => {
    expect((await finance.send('PATCH', `${books}/${bookId()}`, { approvalThreshold: 1_000 })).status).to.equal(403)
    const set = await owner.send('PATCH', `${books}/${bookId()}`, { approvalThreshold: 1_000 })
    expect(set.body.approvalThreshold, JSON.stringify(set.body)).to.equal(1_000)
    expect((await finance.send('POST', entries, { description: 'At it', lines: lines(1_000) })).status).to.equal(201)
    const above = await finance.send('POST', entries, { description: 'Above', lines: lines(1_001) })
    expect([above.status, above.body.code]).to.deep.equal([422, 'approval_required'])
  })

  it('puts the difference of an opening entry on its own account', async () => {
    const year = house.day(0).slice(0, 4)
    const { body } = await finance.send('POST', entries, {
      kind: 'opening',
      description: 'Opening balances',
      postingDate: `${year}-01-01`,
      lines: [{ accountCode: '1.1.3.80', debit: 7_700 }],
    })
    expect(body.kind, JSON.stringify(body)).to.equal('opening')
    expect(await balance('3.9.01')).to.equal(7_700)
  })

  it('keeps accounts that are used, moves roles, and archives at zero', async () => {
    const made = await finance.send('POST', 'financial/chart-of-accounts', {
      code: '1.1.7.99',
      name: 'Prepaid software',
      parentCode: '1.1.7',
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.include({ class: 'asset', side: 'debit', postable: true })
    const path = `financial/chart-of-accounts/${made.body.id as string}`
    expect((await finance.send('PATCH', path, { role: 'revenue_other' })).body.code).to.equal('role_mismatch')
    expect((await finance.send('PATCH', path, { role: 'prepaid_expenses' })).body.role).to.equal('prepaid_expenses')
    const used = await finance.send('POST', `${path}/archive`)
    expect([used.status, used.body.code]).to.deep.equal([422, 'in_use'])
    const other = await finance.send('POST', 'financial/chart-of-accounts', {
      code: '1.1.7.98',
      name: 'Prepaid rent',
      parentCode: '1.1.7',
    })
    const second = `financial/chart-of-accounts/${other.body.id as string}`
    await finance.send('POST', entries, {
      description: 'Prepaid',
      lines: [
        { accountCode: '1.1.7.98', debit: 10 },
        { accountCode: '1.1.3.80', credit: 10 },
      ],
    })
    expect((await finance.send('POST', `${second}/archive`)).body.code).to.equal('balance_not_zero')
    expect((await finance.send('DELETE', second)).body.code).to.equal('in_use')
    expect(
      (await finance.send('POST', 'financial/chart-of-accounts', { code: '1.1.7.98', name: 'x', parentCode: '1.1.7' }))
        .body.code,
    ).to.equal('duplicate_code')
  })

  it('carries cost centres on revenue and expense, and sums them for the year', async () => {
    const center = await finance.send('POST', 'financial/cost-centers', { code: 'SPA', name: 'Spa' })
    const id = center.body.id as string
    const posted = await finance.send('POST', entries, {
      description: 'Oils',
      lines: lines(300, { costCenterId: id }),
    })
    expect(posted.status, JSON.stringify(posted.body)).to.equal(201)
    expect((await finance.send('GET', `financial/cost-centers/${id}`)).body).to.include({ revenue: 0, expense: 300 })
    expect((await finance.send('DELETE', `financial/cost-centers/${id}`)).body.code).to.equal('in_use')
    expect((await finance.send('PATCH', `financial/cost-centers/${id}`, { active: false })).body.active).to.equal(false)
    const off = await finance.send('POST', entries, { description: 'Oils', lines: lines(300, { costCenterId: id }) })
    expect([off.status, off.body.code]).to.deep.equal([422, 'reference_not_found'])
  })

  it('lets no account and no cost centre go that a document names', async () => {
    const add = async (path: string, body: object): Promise<string> => {
      const made = await finance.send('POST', path, body)
      expect(made.status, JSON.stringify(made.body)).to.equal(201)
      return made.body.id as string
    }
    const center = await add('financial/cost-centers', { code: 'BAR', name: 'Bar' })
    const used = await add('financial/chart-of-accounts', { code: '6.1.97', name: 'Ice', parentCode: '6.1' })
    const bankLedger = await add('financial/chart-of-accounts', {
      code: '1.1.1.97',
      name: 'Bank two',
      parentCode: '1.1.1',
      control: 'cash',
      cashFlow: 'cash',
    })
    await add('accounts-payable/payables', {
      payeeName: 'Ice works',
      kind: 'bill',
      issuedOn: house.day(0),
      lines: [{ description: 'Ice', amount: 100, accountId: used, costCenterId: center }],
    })
    await add('cash/accounts', { kind: 'bank', code: 'ICE', name: 'Bank two', ledgerAccountId: bankLedger })
    for (const path of [`cost-centers/${center}`, `chart-of-accounts/${used}`, `chart-of-accounts/${bankLedger}`]) {
      const gone = await finance.send('DELETE', `financial/${path}`)
      expect([path, gone.status, gone.body.code]).to.deep.equal([path, 422, 'in_use'])
    }
    // A bank whose account is closed could not book what comes.
    const archived = await finance.send('POST', `financial/chart-of-accounts/${bankLedger}/archive`)
    expect([archived.status, archived.body.code]).to.deep.equal([422, 'in_use'])
  })

  it('shows what an event would post, and obeys a new rule', async () => {
    const events = await finance.send('GET', 'financial/business-events')
    expect((events.body.data as object[]).length).to.be.greaterThan(80)
    const account = await finance.send('POST', 'financial/chart-of-accounts', {
      code: '4.1.99',
      name: 'Rooms of the annex',
      parentCode: '4.1',
    })
    const rule = await finance.send('POST', 'financial/posting-rules', {
      event: 'reservations.room_night_charged',
      line: '@revenue',
      match: { category: 'room' },
      accountId: account.body.id,
      validFrom: house.day(0),
    })
    expect(rule.status, JSON.stringify(rule.body)).to.equal(201)
    const again = await finance.send('POST', 'financial/posting-rules', {
      event: 'reservations.room_night_charged',
      line: '@revenue',
      match: { category: 'room' },
      accountId: account.body.id,
      validFrom: house.day(3),
    })
    expect([again.status, again.body.code]).to.deep.equal([409, 'overlap'])
    expect(
      (await finance.send('POST', `financial/posting-rules/${rule.body.id as string}/end`, { validTo: house.day(10) }))
        .body.validTo,
    ).to.equal(house.day(10))
  })

  it('keeps dated tax rates and exchange rates', async () => {
    const liability = await sqlOneOf<{ id: string }>(`select id from account where role = 'service_tax_payable'`)
    const code = await finance.send('POST', 'financial/tax-codes', {
      kind: 'document',
      code: 'ISS-NF',
      name: 'ISS',
      liabilityAccountId: liability.id,
      rate: 50_000,
      validFrom: '2026-01-01',
    })
    expect(code.body.rate, JSON.stringify(code.body)).to.equal(50_000)
    const path = `financial/tax-codes/${code.body.id as string}`
    await finance.send('POST', `${path}/rates`, { rate: 40_000, validFrom: '2030-01-01' })
    expect((await finance.send('GET', path)).body.rates).to.deep.equal([
      { rate: 40_000, validFrom: '2030-01-01', validTo: null },
      { rate: 50_000, validFrom: '2026-01-01', validTo: '2029-12-31' },
    ])
    const set = await finance.send('PUT', 'financial/exchange-rates', {
      date: '2026-11-01',
      rates: [{ from: 'EUR', to: 'BRL', rate: '6.1234' }],
    })
    expect((set.body.data as object[])[0]).to.include({ from: 'EUR', to: 'BRL', rate: '6.1234' })
  })

  it('makes a second book, gives it a property without postings, and asks which book', async () => {
    const made = await owner.send('POST', books, {
      name: 'Filial',
      legalName: 'Filial Ltda',
      countryCode: 'BR',
      document: '11.222.333/0001-81',
      taxRegime: 'simples',
      currency: 'BRL',
      timeZone: 'America/Sao_Paulo',
      firstYearStartsOn: `${Number(house.day(0).slice(0, 4)) - 1}-04-01`,
      template: 'hotel',
    })
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body.fiscalYearStartMonth).to.equal(4)
    const years = await owner.send('GET', `financial/fiscal-years?bookId=${made.body.id as string}`)
    expect((years.body.data as { periods: object[] }[]).map(({ periods }) => periods.length)).to.deep.equal([
      13, 13, 13,
    ])
    const assign = () =>
      owner.send('POST', `${books}/${made.body.id as string}/assign-property`, { propertyId: house.propertyId })
    // Records of the property in its present book stay in that book.
    const register = { kind: 'register', code: 'TILL', name: 'Till', propertyId: house.propertyId }
    const till = await owner.send('POST', 'cash/accounts', register)
    expect(till.status, JSON.stringify(till.body)).to.equal(201)
    const refused = await assign()
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'in_use'])
    await owner.send('POST', `cash/accounts/${till.body.id as string}/archive`)
    const present = await owner.send('GET', `financial/fiscal-years?bookId=${house.bookId}`)
    const budget = await owner.send('POST', 'financial/budgets', {
      fiscalYearId: (present.body.data as { id: string }[])[0]?.id,
      propertyId: house.propertyId,
      name: 'Plan',
    })
    expect(budget.status, JSON.stringify(budget.body)).to.equal(201)
    const planned = await assign()
    expect([planned.status, planned.body.code]).to.deep.equal([422, 'in_use'])
    await owner.send('DELETE', `financial/budgets/${budget.body.id as string}`)
    const given = await assign()
    expect([given.status, given.body.code]).to.deep.equal([200, undefined])
    expect(given.body.propertyIds).to.deep.equal([house.propertyId])
    const asked = await owner.send('GET', 'financial/balances')
    expect([asked.status, asked.body.code]).to.deep.equal([400, 'validation_failed'])
    const period = (years.body.data as { periods: { id: string }[] }[])[0]?.periods[0]
    const shown = await owner.send('GET', `financial/periods/${period?.id}`)
    expect((shown.body.checklist as { code: string }[]).map(({ code }) => code)).to.include('events_waiting')
  })

  it('seals the number of a natural person whose book it is, and finds it all the same', async () => {
    const cpf = newCpf()
    const dotted = cpf.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4')
    const book = (document: string) => ({
      name: 'Person',
      legalName: 'Casa de Ana',
      countryCode: 'BR',
      document,
      taxRegime: 'simples',
      currency: 'BRL',
      timeZone: 'America/Sao_Paulo',
      firstYearStartsOn: `${house.day(0).slice(0, 4)}-01-01`,
      template: 'none',
    })
    const made = await owner.send('POST', books, book(dotted))
    expect([made.status, made.body.document], JSON.stringify(made.body)).to.deep.equal([201, cpf])
    const id = made.body.id as string
    const asText = `select b::text as text from book b where id = '${id}'`
    const isPlain = async () => (await sqlOneOf<{ text: string }>(asText)).text.includes(cpf)
    expect(await isPlain()).to.equal(false)
    const twin = await owner.send('POST', books, book(cpf))
    expect([twin.status, twin.body.code]).to.deep.equal([409, 'duplicate_code'])
    const listed = await owner.send('GET', books)
    expect((listed.body.data as { id: string; document: string }[]).find((one) => one.id === id)?.document).to.equal(
      cpf,
    )
    // A company has its number in the open, however it is written, and once.
    const company = await owner.send('PATCH', `${books}/${id}`, { document: '11.444.777/0001-61' })
    expect(company.body.document).to.equal('11444777000161')
    const same = await owner.send('POST', books, book('11444777000161'))
    expect([same.status, same.body.code]).to.deep.equal([409, 'duplicate_code'])
    expect((await owner.send('PATCH', `${books}/${id}`, { document: cpf })).body.document).to.equal(cpf)
    // Plain numbers are refused by the database; those of an earlier release are sealed when the tenant is brought up to date.
    const { admin } = world.database
    const plain = () =>
      sql(admin, `update book set sealed = null, document_index = null, document = ? where id = ?`, [dotted, id])
    expect(
      await plain().then(
        () => null,
        (error: { constraint?: string }) => error.constraint,
      ),
    ).to.equal('book_document_of_person')
    await admin.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica')
      await trx.raw(`update book set sealed = null, document_index = null, document = ? where id = ?`, [dotted, id])
    })
    const late = await owner.send('POST', books, book(cpf))
    expect([late.status, late.body.code]).to.deep.equal([409, 'duplicate_code'])
    for (const _ of ['once', 'again']) await inTenant(house.tenantId, (trx) => provisionParts(trx))
    expect(await isPlain()).to.equal(false)
    expect((await sqlOneOf<{ text: string }>(asText)).text).not.to.include(dotted)
    expect((await owner.send('GET', `${books}/${id}`)).body.document).to.equal(cpf)
  })

  it('takes a party for what it is said to be alone', async () => {
    const post = (partyType: string) =>
      finance.send('POST', entries, {
        description: 'Between books',
        lines: [{ ...lines(10)[0], partyType, partyId: house.bookId }, lines(10)[1]],
      })
    const { status, body } = await post('guest')
    expect([status, body.code]).to.deep.equal([422, 'reference_not_found'])
  })

  it('keeps those of one property to its lines: they post, reverse and see none of others', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const limited = await openDesk(world, house, 'finance', [house.propertyId])
    const of = (first: string | undefined, second: string | undefined) =>
      lines(40).map((line, index) => ({ ...line, propertyId: index === 0 ? first : second }))
    const post = (desk: Desk, given: object[]) => desk.send('POST', entries, { description: 'Shared', lines: given })
    expect((await post(limited, of(house.propertyId, house.propertyId))).status).to.equal(201)
    const foreign = await post(limited, of(house.propertyId, other.propertyId))
    expect([foreign.status, foreign.body.code]).to.deep.equal([403, 'forbidden'])
    const nowhere = await post(limited, of(house.propertyId, undefined))
    expect([nowhere.status, nowhere.body.code]).to.deep.equal([422, 'reference_not_found'])
    const shared = await post(owner, of(house.propertyId, other.propertyId))
    const refused = await limited.send('POST', `${entries}/${shared.body.id as string}/reverse`, { reason: 'No' })
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'forbidden'])
    const trial = await limited.send('POST', `${entries}?dryRun=true`, {
      description: 'Trial',
      lines: of(house.propertyId, house.propertyId),
    })
    expect((trial.body.balances as { before: number }[])[0]?.before).to.equal(80)
  })

  it('opens an account with what stood before the days asked for, and closes it with what stands after', async () => {
    const year = Number(house.day(0).slice(0, 4))
    const post = (postingDate: string, amount: number) =>
      finance.send('POST', entries, { description: 'Fees', postingDate, lines: lines(amount) })
    for (const [month, amount] of [
      ['01-31', 100],
      ['02-10', 20],
      ['02-20', 3],
    ] as const)
      expect((await post(`${year}-${month}`, amount)).status).to.equal(201)
    const account = await sqlOneOf<{ id: string }>(`select id from account where code = '1.1.3.80'`)
    const path = `financial/chart-of-accounts/${account.id}/lines?from=${year}-02-11`
    const { body } = await finance.send('GET', path)
    expect(body).to.include({ opening: -120, closing: -123 })
    expect((body.data as object[]).map((line) => (line as { balance: number }).balance)).to.deep.equal([-123])
    expect((await finance.send('GET', `${path}&to=${year}-02-11`)).body).to.include({ opening: -120, closing: -120 })
  })

  it('moves locks while events are raised, and neither waits for ever', async () => {
    const raise = () => raiseMany({ ...house, today: house.day(0) }, 4)
    const lock = () =>
      owner.send('PUT', `${books}/${bookId()}/locks`, {
        lockedUntil: house.day(-40),
        journals: [],
      })
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, n) => (n % 3 === 0 ? (await lock()).status : (await raise(), 200))),
    )
    expect(outcomes.filter((status) => status !== 200)).to.deep.equal([])
  })

  it('runs the checks, and tells what they found', async () => {
    await finance.send('POST', entries, { description: 'Bank fees', lines: lines() })
    const run = await finance.send('POST', 'financial/integrity-checks/run', {})
    expect(run.body.status, JSON.stringify(run.body)).to.equal('queued')
    const second = await finance.send('POST', 'financial/integrity-checks/run', {})
    expect([second.status, second.body.code]).to.deep.equal([409, 'run_in_progress'])
    expect(JSON.stringify(second.body.errors)).to.include(run.body.id)
    const shown = await finance.send('GET', 'financial/integrity-checks')
    expect((shown.body.run as { id: string }).id).to.equal(run.body.id)
  })
})
