import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { localInstant } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { changeItem, eraseIssues, eraseItems, flagItem, readItem } from '../../db/issues/index.ts'
import { blobs } from '../../db/lib/sealing/index.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { waitsForLock } from '../support/deadlocks.ts'
import { makeHouse, timeZone } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { arrive, leave, place } from '../units/stays.ts'

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('Lost property', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  before(async () => {
    house = await makeHouse({ units: 2, deposit: null, amount: 0 })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  const register = async (more: object = {}) => {
    const { status, body } = await owner.send('POST', 'issues/lost-items', {
      propertyId: house.propertyId,
      direction: 'found',
      category: 'electronics',
      description: 'A grey charger',
      ...more,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body
  }
  const change = (id: string, body: object) => owner.send('PATCH', `issues/lost-items/${id}`, body)
  const close = (id: string, outcome: string, note?: object) =>
    owner.send('POST', `issues/lost-items/${id}/close`, { outcome, ...(note ? { note } : {}) })

  it('names the stay that left the unit last', async () => {
    await house.inHouse((trx) => sql(trx, `update unit set condition = 'inspected'`))
    await house.inHouse((trx) =>
      sql(trx, `update property set check_in_from = '00:00' where id = ?`, [house.propertyId]),
    )
    const stay = await place(house, { from: 0, nights: 1 })
    await arrive(house, stay)
    const [unit] = await house.inHouse((trx) =>
      sql<{ unitId: string }>(trx, `select unit_id from unit_assignment where reservation_id = ?`, [stay]),
    )
    await leave(house, stay)
    const item = await register({ unitId: unit?.unitId })
    expect(item).to.include({ reservationId: stay, direction: 'found', status: 'open' })
    expect(item.guest.name).to.be.a('string')
    expect(item.keepUntil).to.equal(house.day(90))
    // Three days by the calendar of the house, late in its evening too.
    await world.database.admin.raw(`update unit_assignment set during = daterange(?, ?) where reservation_id = ?`, [
      house.day(-5),
      house.day(-4),
      stay,
    ])
    const at = localInstant(house.day(-1), '23:30', timeZone).toISOString()
    expect((await register({ unitId: unit?.unitId, at })).reservationId).to.equal(stay)
    expect((await register({ unitId: unit?.unitId })).reservationId).to.equal(null)
  })

  it('suggests and matches items of the other direction, one to one', async () => {
    const found = await register({ category: 'jewellery', description: 'A silver ring' })
    const missed = await register({ direction: 'missed', category: 'jewellery', description: 'My ring' })
    const other = await register({ direction: 'missed', category: 'jewellery', description: 'Her ring' })
    expect(missed.suggestions).to.include(found.id)
    expect((await change(missed.id, { matchId: found.id })).body).to.include({ matchId: found.id })
    expect(codeOf(await change(other.id, { matchId: found.id }))).to.deep.equal([422, 'link_mismatch'])
    expect(codeOf(await change(other.id, { matchId: missed.id }))).to.deep.equal([422, 'link_mismatch'])
    expect(codeOf(await change(other.id, { matchId: randomUUID() }))).to.deep.equal([422, 'link_mismatch'])
    expect(codeOf(await close(found.id, 'returned'))).to.deep.equal([400, 'validation_failed'])
    expect((await close(found.id, 'returned', { to: 'Ana Souza', document: 'RG' })).body).to.include({
      status: 'closed',
      outcome: 'returned',
    })
    const { data } = (await owner.get(`issues/lost-items?status=closed&category=jewellery`)).body
    expect(data.map(({ id }: { id: string }) => id)).to.have.members([found.id, missed.id])
    expect(codeOf(await change(found.id, { storedAt: 'Safe' }))).to.deep.equal([409, 'invalid_transition'])
  })

  it('leaves the match that it was given while another waited for it', async () => {
    const of = (direction: 'found' | 'missed') => register({ direction, category: 'clothing', description: 'A hat' })
    const [found, first, second] = [await of('found'), await of('missed'), await of('missed')]
    const matchOf = async (id: string) => (await house.inHouse((trx) => readItem(trx, id))).matchId
    let asked: ReturnType<typeof change> | null = null
    let isOver = false
    await house.inHouse(async (trx) => {
      await changeItem(trx, found.id, { matchId: first.id }, null)
      asked = change(found.id, { matchId: second.id })
      void asked.finally(() => (isOver = true))
      await until(async () => isOver || (await waitsForLock(world.database.admin)))
    })
    const { status, body } = await asked!
    expect([status, body.matchId], JSON.stringify(body)).to.deep.equal([200, second.id])
    expect(await Promise.all([found.id, first.id, second.id].map(matchOf))).to.deep.equal([second.id, null, found.id])
  })

  it('gives nothing away before its day, and documents to nobody but owner and authority', async () => {
    const charger = await register()
    const passport = await register({ category: 'document', description: 'A passport' })
    expect(codeOf(await close(charger.id, 'donated'))).to.deep.equal([422, 'keep_until_not_reached'])
    expect(codeOf(await close(passport.id, 'discarded'))).to.deep.equal([422, 'outcome_not_allowed'])
    expect(codeOf(await close(charger.id, 'not_found'))).to.deep.equal([422, 'outcome_not_allowed'])
    await world.database.admin.raw(`update lost_item set keep_until = current_date - 2 where id = ?`, [charger.id])
    const due = (await owner.get('issues/lost-items?disposalDue=true')).body.data
    expect(due.map(({ id }: { id: string }) => id)).to.deep.equal([charger.id])
    await house.inHouse((trx) => flagItem(trx, charger.id))
    await house.inHouse((trx) => flagItem(trx, charger.id))
    expect(await eventsOf(house, 'lost_item.disposal_date_reached')).to.have.length(1)
    expect((await close(charger.id, 'donated')).body).to.include({ outcome: 'donated' })
    expect((await close(passport.id, 'handed_to_authority')).body).to.include({ outcome: 'handed_to_authority' })
  })

  it('loses its texts and files when their time is over, and keeps the facts', async () => {
    const item = await register({ description: 'Fotos de Maria' })
    const added = await owner.send('POST', 'issues/attachments', {
      entityType: 'lost_item',
      entityId: item.id,
      fileName: 'photo.png',
      mediaType: 'image/png',
      content: png.toString('base64'),
    })
    expect(added.status, JSON.stringify(added.body)).to.equal(201)
    const file = await owner.get(`issues/attachments/${added.body.id}`)
    expect(Buffer.from(file.body.content, 'base64').equals(png)).to.equal(true)
    const attach = (content: Buffer, more: object = {}) =>
      owner.send('POST', 'issues/attachments', {
        entityType: 'lost_item',
        entityId: item.id,
        fileName: 'photo.png',
        mediaType: 'image/png',
        content: content.toString('base64'),
        ...more,
      })
    expect(codeOf(await attach(Buffer.from('%PDF-1.7\n%%EOF\n')))).to.deep.equal([400, 'file_type_mismatch'])
    const large = Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024 + 1 - png.length)])
    expect(codeOf(await attach(large))).to.deep.equal([400, 'file_too_large'])
    expect(codeOf(await attach(png, { entityId: randomUUID() }))).to.deep.equal([404, 'not_found'])
    for (let file = 2; file <= 20; file += 1) expect((await attach(png)).status).to.equal(201)
    expect(codeOf(await attach(png))).to.deep.equal([422, 'too_many_attachments'])
    const stranger = await openDesk(world, await makeHouse({ units: 1 }), 'owner')
    expect((await stranger.get(`issues/attachments/${added.body.id}`)).status).to.equal(404)
    const files = () =>
      house.inHouse((trx) =>
        sql<{ id: string; blobId: string }>(trx, `select id, blob_id from attachment where entity_id = ?`, [item.id]),
      )
    const [gone] = (await files()).filter(({ id }) => id !== added.body.id)
    expect((await owner.send('DELETE', `issues/attachments/${gone?.id}`, {})).body.removed).to.equal('deleted')
    expect((await owner.get(`issues/attachments/${gone?.id}`)).status).to.equal(404)
    expect(await house.inHouse((trx) => blobs.get(trx, gone?.blobId ?? ''))).to.equal(null)
    await close(item.id, 'returned', { to: 'Maria' })
    await house.inHouse((trx) => eraseItems(trx, [item.id]))
    const [erased] = (await owner.get('issues/lost-items?status=closed')).body.data.filter(
      ({ id }: { id: string }) => id === item.id,
    )
    expect(erased).to.include({ description: null, outcome: 'returned', number: item.number })
    expect((await owner.get(`issues/attachments/${added.body.id}`)).status).to.equal(404)

    const { body: categories } = await owner.get('issues/categories')
    const { body: issue } = await owner.send('POST', 'issues', {
      propertyId: house.propertyId,
      categoryId: categories.data[0].id,
      title: 'Maria Silva is ill',
    })
    await owner.send('POST', `issues/${issue.id}/comments`, { text: 'Maria called' })
    await owner.send('POST', `issues/${issue.id}/close`, { outcome: 'withdrawn', reason: 'Maria is well' })
    await house.inHouse((trx) => eraseIssues(trx, [issue.id]))
    const after = (await owner.get(`issues/${issue.id}`)).body
    expect(JSON.stringify(after)).to.not.include('Maria')
    expect(after).to.include({ title: null, outcome: 'withdrawn' })
    expect(after.comments[0].text).to.equal(null)
  })
})
