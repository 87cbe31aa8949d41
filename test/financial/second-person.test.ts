import { expect } from 'chai'
import { sqlState } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'
import type { Accountant } from './accountant.ts'

/** Documents that pass through several hands: an author approves no word of their own, and sees no more than their properties. */
describe('documents of several people', function () {
  this.timeout(60_000)
  const world = useWorld()
  let a: Accountant
  let admin: Desk

  before(async () => {
    a = await openBook(world)
    admin = await openDesk(world, a.house, 'admin')
  })
  beforeEach(() => a.calm())

  const drafts = 'financial/entry-drafts'
  const rent = (amount: number) => [line('5.1.09', amount), line('1.1.3.80', -amount)]
  const selfApproval = [403, 'self_approval']

  it('a draft is not approved by who changed it, whoever submits it', async () => {
    const { finance, owner, good, refused, bookId } = a
    const draft = await good(finance, 'POST', drafts, { bookId, description: 'Rent', lines: rent(5_000) })
    const path = `${drafts}/${draft.id as string}`
    await good(owner, 'PATCH', path, { lines: rent(9_000_000) })
    await good(finance, 'PATCH', path, { description: 'Rent of March' })
    await good(finance, 'POST', `${path}/submit`)
    expect(await refused(owner, 'POST', `${path}/approve`, {})).to.deep.equal(selfApproval)
    expect(await refused(finance, 'POST', `${path}/approve`, {})).to.deep.equal(selfApproval)
    const forced = await a
      .rows(
        `update entry_draft set status = 'posted', decided_by = editors[1], entry_id = (select id from journal_entry limit 1)
         where tenant_id = :tenantId and id = :id`,
        { id: draft.id },
      )
      .then(
        () => 'taken',
        (error: unknown) => sqlState(error),
      )
    expect(forced).to.equal('23514')
    const posted = await good(admin, 'POST', `${path}/approve`, {})
    expect(posted).to.include({ status: 'posted', selfApproved: false, total: 9_000_000 })
    const entry = await good(finance, 'GET', `financial/ledger-entries/${posted.entryId as string}`)
    expect([entry.createdBy, entry.approvedBy]).to.deep.equal([draft.createdBy, posted.decidedBy])
  })

  it('a person who works by an API key is its maker, and a key approves and reopens nothing', async () => {
    const { finance, owner, good, refused, bookId } = a
    const scopes = ['financial:read', 'financial:write']
    const { key } = await good(owner, 'POST', 'api-keys', { name: 'Import', scopes })
    const byKey = async (method: string, path: string, body: object = {}) => {
      const reply = await world.request(method, `/api/tenants/${a.house.tenantId}/${path}`, {
        key: key as string,
        body,
      })
      return [reply.status, reply.body.code ?? reply.body.id] as [number, string]
    }
    const [status, id] = await byKey('POST', drafts, { bookId, description: 'Rent', lines: rent(30) })
    expect(status).to.equal(201)
    await good(finance, 'POST', `${drafts}/${id}/submit`)
    expect(await refused(owner, 'POST', `${drafts}/${id}/approve`, {})).to.deep.equal(selfApproval)
    await good(finance, 'POST', `${drafts}/${id}/reject`, { reason: 'More' })
    const other = await good(finance, 'POST', drafts, { bookId, description: 'Rent', lines: rent(40) })
    const path = `${drafts}/${other.id as string}`
    expect((await byKey('PATCH', path, { lines: rent(50) }))[0]).to.equal(200)
    await good(finance, 'POST', `${path}/submit`)
    expect(await refused(owner, 'POST', `${path}/approve`, {})).to.deep.equal(selfApproval)
    expect((await byKey('POST', `${path}/approve`))[0]).to.equal(403)
    const january = await a.periodOf(a.on('01-01'))
    await good(finance, 'POST', `financial/periods/${january}/soft-close`)
    const reopening = `financial/periods/${january}/reopen`
    expect((await byKey('POST', reopening, { reason: 'More' }))[0]).to.equal(403)
    expect((await good(owner, 'POST', reopening, { reason: 'More' })).status).to.equal('open')
    await world.drain()
  })

  it('a budget is not approved by who set lines of it', async () => {
    const { finance, owner, good, refused } = a
    const [year] = await a.rows<{ id: string }>(`select id from fiscal_year where book_id = :bookId and year = :year`, {
      year: a.year,
    })
    const plan = await good(finance, 'POST', 'financial/budgets', { fiscalYearId: year?.id, name: 'Plan' })
    const path = `financial/budgets/${plan.id as string}`
    const accountId = await a.account('4.1.01')
    await good(owner, 'PUT', `${path}/lines`, { lines: [{ accountId, periodNumber: 1, amount: 5_000 }] })
    expect(await refused(owner, 'POST', `${path}/approve`)).to.deep.equal(selfApproval)
    expect((await good(admin, 'POST', `${path}/approve`)).status).to.equal('approved')
  })

  it('what a template makes is not approved by who changed the template', async () => {
    const { finance, owner, good, refused, bookId, on } = a
    const lines = async (amount: number) => [
      { accountId: await a.account('5.1.09'), side: 'debit', amount },
      { accountId: await a.account('1.1.3.80'), side: 'credit', amount },
    ]
    await good(owner, 'PATCH', `financial/books/${bookId}`, { approvalThreshold: 4_000 })
    const template = await good(finance, 'POST', 'financial/entry-templates', {
      bookId,
      name: 'Rent',
      description: 'Rent',
      lines: await lines(100),
    })
    const schedule = { every: 1, unit: 'month', firstOn: on('03-10'), endsOn: on('03-10'), mode: 'post' }
    await good(owner, 'PATCH', `financial/entry-templates/${template.id as string}`, {
      lines: await lines(5_000),
      schedule,
    })
    await world.drain()
    const { data } = await good(finance, 'GET', `${drafts}?bookId=${bookId}&status=submitted`)
    const [made] = data as { id: string; total: number; createdBy: string }[]
    expect(made).to.include({ total: 5_000, createdBy: template.createdBy })
    expect(await refused(owner, 'POST', `${drafts}/${made?.id ?? ''}/approve`, {})).to.deep.equal(selfApproval)
    expect((await good(admin, 'POST', `${drafts}/${made?.id ?? ''}/approve`, {})).status).to.equal('posted')
    await good(owner, 'PATCH', `financial/books/${bookId}`, { approvalThreshold: null })
  })

  it('a budget copies none that its author does not see, and takes nothing that is not in use', async () => {
    const { finance, owner, good, refused, bookId } = a
    const [year] = await a.rows<{ id: string }>(`select id from fiscal_year where book_id = :bookId and year = :year`, {
      year: a.year + 1,
    })
    const [own, other] = [await a.property(), await a.property()]
    const limited = await openDesk(world, a.house, 'manager', [own])
    const given = { bookId, code: '4.1.88', name: 'Terrace', parentCode: '4.1' }
    const { id: accountId } = await good(finance, 'POST', 'financial/chart-of-accounts', given)
    const center = await good(finance, 'POST', 'financial/cost-centers', { bookId, code: 'SPA', name: 'Spa' })
    const lines = (amount: number) => ({
      lines: [
        { accountId, periodNumber: 1, amount },
        { accountId, costCenterId: center.id, periodNumber: 2, amount },
      ],
    })
    const make = (desk: Desk, name: string, propertyId: string, more: object = {}): [Desk, string, string, object] => [
      desk,
      'POST',
      'financial/budgets',
      { fiscalYearId: year?.id, name, propertyId, ...more },
    ]
    const foreign = await good(...make(owner, 'Of another house', other))
    await good(owner, 'PUT', `financial/budgets/${foreign.id as string}/lines`, lines(700))
    const copy = { copy: { budgetId: foreign.id, rate: 0 } }
    expect(await refused(...make(limited, 'Copied', own, copy))).to.deep.equal([422, 'reference_not_found'])
    const mine = await good(...make(limited, 'Own', own))
    expect((await good(...make(limited, 'Again', own, { copy: { budgetId: mine.id, rate: 0 } }))).months).to.deep.equal(
      [],
    )
    expect((await good(...make(owner, 'For the other', own, copy))).months).to.have.length(2)

    await good(finance, 'PATCH', `financial/cost-centers/${center.id as string}`, { active: false })
    const path = `financial/budgets/${foreign.id as string}/lines`
    expect(await refused(owner, 'PUT', path, lines(800))).to.deep.equal([422, 'reference_not_found'])
    expect((await good(owner, 'PUT', path, lines(0))).months).to.deep.equal([])
    await good(finance, 'POST', `financial/chart-of-accounts/${accountId as string}/archive`)
    const first = { lines: [{ accountId, periodNumber: 1, amount: 1 }] }
    expect(await refused(owner, 'PUT', path, first)).to.deep.equal([422, 'account_not_usable'])
  })

  it('a book with a single operator says of an editor that they approved their own', async () => {
    const { finance, owner, good, bookId } = a
    await good(owner, 'PATCH', `financial/books/${bookId}`, { singleOperator: true })
    const draft = await good(finance, 'POST', drafts, { bookId, description: 'Rent', lines: rent(10) })
    await good(owner, 'PATCH', `${drafts}/${draft.id as string}`, { lines: rent(20) })
    await good(owner, 'POST', `${drafts}/${draft.id as string}/submit`)
    expect(await good(owner, 'POST', `${drafts}/${draft.id as string}/approve`, {})).to.include({
      status: 'posted',
      selfApproved: true,
    })
    await good(owner, 'PATCH', `financial/books/${bookId}`, { singleOperator: false })
  })
})
