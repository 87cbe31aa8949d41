import { expect } from 'chai'
import { createHash, randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { approveDraft, submitDraft } from '../../db/financial/drafts.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { forgetLimits, makeUser } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const table = Buffer.from('month,amount\n2026-11,350000\n')

describe('files beside drafts and entries', () => {
  const world = useWorld()
  let house: House
  let finance: Desk
  let manager: Desk
  const path = 'financial/attachments'

  before(async () => {
    house = await makeHouse({ units: 1 })
    finance = await openDesk(world, house, 'finance')
    manager = await openDesk(world, house, 'manager')
  })
  beforeEach(() => forgetLimits(world))

  const lines = [
    { accountCode: '5.1.09', debit: 500 },
    { accountCode: '1.1.3.80', credit: 500 },
  ]
  const draft = async (desk = finance): Promise<string> => {
    const { status, body } = await desk.send('POST', 'financial/entry-drafts', { description: 'Rent', lines })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id
  }
  const entry = async (): Promise<string> =>
    (await finance.send('POST', 'financial/ledger-entries', { description: 'Rent', lines })).body.id
  const file = (entityType: string, entityId: string, extra: object = {}) => ({
    entityType,
    entityId,
    fileName: 'aluguel março.csv',
    mediaType: 'text/csv',
    content: table.toString('base64'),
    ...extra,
  })
  const blobs = async (): Promise<number> => {
    const [row] = await inTenant(house.tenantId, (trx) =>
      sql<{ count: number }>(trx, `select count(*) as count from blob`),
    )
    return row?.count ?? 0
  }

  it('are sent, listed without content, and read whole; what is stored is sealed', async () => {
    const id = await draft()
    const sent = await finance.send('POST', path, file('draft', id))
    expect(sent.status, JSON.stringify(sent.body)).to.equal(201)
    const sha256 = createHash('sha256').update(table).digest('hex')
    const head = { fileName: 'aluguel março.csv', mediaType: 'text/csv', bytes: table.length, sha256 }
    expect(sent.body)
      .to.include({ ...head, entityType: 'draft', entityId: id })
      .and.not.have.property('content')
    const shown = await finance.get(`financial/entry-drafts/${id}`)
    expect(shown.body.attachments).to.have.length(1)
    expect(shown.body.attachments[0]).to.include(head).and.not.have.property('content')
    const read = await finance.get(`${path}/${sent.body.id}`)
    expect(read.body).to.include({ ...head, content: table.toString('base64') })
    const stored = await inTenant(house.tenantId, (trx) => sql<{ bytes: Buffer }>(trx, `select bytes from blob`))
    expect(stored.some(({ bytes }) => bytes.includes('350000'))).to.equal(false)
  })

  it('are told by their content, and never unpacked', async () => {
    const id = await draft()
    for (const [extra, code] of [
      [{ mediaType: 'application/pdf', content: png.toString('base64') }, 'file_type_mismatch'],
      [{ mediaType: 'image/png', content: table.toString('base64') }, 'file_type_mismatch'],
      [{ content: 'bm8gYmFzZTY0?' }, 'validation_failed'],
      [{ content: Buffer.alloc(10_485_761, 'a').toString('base64') }, 'file_too_large'],
      [{ fileName: '' }, 'validation_failed'],
      [{ fileName: 'x'.repeat(121) }, 'validation_failed'],
      [{ mediaType: 'text/html' }, 'validation_failed'],
      [{ entityType: 'book' }, 'validation_failed'],
    ] as const) {
      const refused = await finance.send('POST', path, file('draft', id, extra))
      expect([refused.status, refused.body.code], JSON.stringify(extra).slice(0, 80)).to.deep.equal([400, code])
    }
    const largest = await finance.send(
      'POST',
      path,
      file('draft', id, { content: Buffer.alloc(10_485_760, 'a').toString('base64') }),
    )
    expect(largest.status).to.equal(201)
    const read = await finance.get(`${path}/${largest.body.id}`)
    expect(Buffer.from(read.body.content as string, 'base64').length).to.equal(10_485_760)
  })

  it('are at most twenty for a record, whoever sends them at once', async () => {
    const id = await draft()
    const replies = await Promise.all(Array.from({ length: 24 }, () => finance.send('POST', path, file('draft', id))))
    expect(replies.filter(({ status }) => status === 201)).to.have.length(20)
    for (const { status, body } of replies)
      if (status !== 201) expect([status, body.code]).to.deep.equal([422, 'too_many_attachments'])
    const first = replies.find(({ status }) => status === 201)
    expect((await finance.send('DELETE', `${path}/${first?.body.id}`)).body.removed).to.equal('deleted')
    expect((await finance.send('POST', path, file('draft', id))).status).to.equal(201)
  })

  it('are deleted with a draft, and hidden for good beside an entry', async () => {
    const id = await draft()
    const before = await blobs()
    const { body: one } = await finance.send('POST', path, file('draft', id))
    const { body: two } = await finance.send(
      'POST',
      path,
      file('draft', id, { mediaType: 'image/png', content: png.toString('base64') }),
    )
    expect(await blobs()).to.equal(before + 2)
    expect((await finance.send('DELETE', `${path}/${one.id}`)).body).to.deep.equal({ id: one.id, removed: 'deleted' })
    expect((await finance.send('DELETE', `${path}/${one.id}`)).status).to.equal(404)
    expect((await finance.get(`${path}/${one.id}`)).status).to.equal(404)
    expect((await finance.send('DELETE', `financial/entry-drafts/${id}`)).status).to.equal(200)
    expect((await finance.get(`${path}/${two.id}`)).status).to.equal(404)
    expect(await blobs()).to.equal(before)

    const ledgerEntry = await entry()
    const { body: kept } = await finance.send('POST', path, file('entry', ledgerEntry))
    const hidden = await finance.send('DELETE', `${path}/${kept.id}`, { reason: 'Of another month' })
    expect(hidden.body).to.deep.equal({ id: kept.id, removed: 'hidden' })
    expect((await finance.get(`${path}/${kept.id}`)).status).to.equal(404)
    expect((await finance.get(`financial/ledger-entries/${ledgerEntry}`)).body.attachments).to.deep.equal([])
    expect(await blobs()).to.equal(before + 1)
    const [row] = await inTenant(house.tenantId, (trx) =>
      sql<{ hideReason: string; hiddenBy: string }>(trx, `select hide_reason, hidden_by from attachment where id = ?`, [
        kept.id,
      ]),
    )
    expect(row?.hideReason).to.equal('Of another month')
    expect(row?.hiddenBy).to.be.a('string')
  })

  it('go with a draft to the entry that it becomes', async () => {
    const id = await draft()
    const { body: sent } = await finance.send('POST', path, file('draft', id))
    const { userId } = await makeUser({ [house.tenantId]: 'finance' })
    await inTenant(house.tenantId, (trx) => submitDraft(trx, id, always))
    await inTenant(
      house.tenantId,
      (trx) => approveDraft(trx, id, { scope: always, mayOverride: true, requireRecent: () => undefined }),
      { actor: { type: 'user', id: userId } },
    )
    const { body: posted } = await finance.get(`financial/entry-drafts/${id}`)
    expect(posted.attachments).to.deep.equal([])
    const { body: made } = await finance.get(`financial/ledger-entries/${posted.entryId}`)
    expect(made.attachments).to.have.length(1)
    expect(made.attachments[0].id).to.equal(sent.id)
    const late = await finance.send('POST', path, file('draft', id))
    expect([late.status, late.body.code]).to.deep.equal([409, 'invalid_transition'])
    expect((await finance.send('DELETE', `${path}/${sent.id}`)).body.removed).to.equal('hidden')
  })

  it('are those of records that the caller may read', async () => {
    const id = await draft()
    const { body: sent } = await finance.send('POST', path, file('draft', id))
    // A manager reads all drafts, changes their own alone, and deletes no file.
    expect((await manager.get(`${path}/${sent.id}`)).status).to.equal(200)
    expect((await manager.send('POST', path, file('draft', id))).status).to.equal(403)
    const own = await draft(manager)
    const { status, body } = await manager.send('POST', path, file('draft', own))
    expect(status).to.equal(201)
    expect((await manager.send('DELETE', `${path}/${body.id}`)).status).to.equal(403)
    expect((await finance.send('POST', path, file('draft', randomUUID()))).status).to.equal(404)
    expect((await finance.send('POST', path, file('entry', id))).status).to.equal(404)

    const neighbour = await makeHouse({ units: 1 })
    const stranger = await openDesk(world, neighbour, 'owner')
    expect((await stranger.get(`${path}/${sent.id}`)).status).to.equal(404)
    expect((await stranger.send('DELETE', `${path}/${sent.id}`)).status).to.equal(404)
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const elsewhere = await openDesk(world, house, 'manager', [other.propertyId])
    const ledgerEntry = await entry()
    const { body: kept } = await finance.send('POST', path, file('entry', ledgerEntry))
    expect((await elsewhere.get(`${path}/${kept.id}`)).status).to.equal(404)
  })
})
