import { expect } from 'chai'
import { blocksAmong, findByDocumentAndEmail } from '../../db/guests/index.ts'
import { sql } from '../../db/lib/connection.ts'
import { hasConsent } from '../../db/ocp/consent.ts'
import { forgetLimits } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'
import { newCpf, useGuests } from './support.ts'

describe('Profiles that may be one person', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, create, rows } = desk
  beforeEach(() => forgetLimits(world))

  const merge = (survivor: string, mergedGuestId: string, take?: string[]) =>
    call('POST', `guests/${survivor}/merge`, { mergedGuestId, reason: 'One person', ...(take ? { take } : {}) })
  const unmerge = (id: string) => call('POST', `guests/${id}/unmerge`, { reason: 'Two people' })
  const read = async (id: string) => (await call('GET', `guests/${id}`)).body
  const pairsOf = async (id: string) =>
    (
      (await call('GET', 'guests/duplicates?limit=100')).body.data as {
        id: string
        score: number
        matches: string[]
        guests: { id: string }[]
      }[]
    ).filter((pair) => pair.guests.some((guest) => guest.id === id))

  it('are proposed by what they have in common, and no more often than they match', async () => {
    const common = { email: 'one@example.com', phone: '+5521988887777', birthDate: '1980-05-05' }
    const a = await create({ firstName: 'Bia', lastName: 'Reis', ...common })
    const b = await create({ firstName: 'Reis', lastName: 'Bia', birthDate: '1980-05-05', phone: '+5521988887777' })
    const c = await create({ firstName: 'Caio', lastName: 'Luz', phone: '+5521988887777' })
    await world.drain()
    const [pair, ...none] = await pairsOf(a)
    expect(none).to.deep.equal([])
    expect(pair).to.deep.include({ score: 90, matches: ['phone', 'name_birth'] })
    expect(pair?.guests.map((guest) => guest.id)).to.have.members([a, b])
    expect(await pairsOf(c)).to.deep.equal([])
    expect((await read(a)).openDuplicates).to.deep.equal([pair?.id])
    // A telephone alone is not enough; with a similar name in the same city it is.
    const near = { phone: '+5521988880000', address: { city: 'São Luís' } }
    const d = await create({ firstName: 'Antônio', lastName: 'Carvalho', ...near })
    await create({ firstName: 'Antonio', lastName: 'Carvalho Jr', ...near, address: { city: 'Sao Luis' } })
    await world.drain()
    expect((await pairsOf(d))[0]).to.deep.include({ score: 60, matches: ['phone', 'name_city'] })
    // A pair that does not match any more is dropped.
    await call('PATCH', `guests/${b}`, { phone: null, birthDate: null })
    await world.drain()
    expect(await pairsOf(a)).to.deep.equal([])
  })

  it('stay apart once a person said so, until a document matches', async () => {
    const a = await create({ email: 'family@example.com' })
    const b = await create({ email: 'family@example.com', firstName: 'Bruno' })
    await world.drain()
    const [pair] = await pairsOf(a)
    const dismissed = await call('POST', `guests/duplicates/${pair?.id}/dismiss`)
    expect(dismissed.body.status).to.equal('dismissed')
    expect((await call('POST', `guests/duplicates/${pair?.id}/dismiss`)).status).to.equal(200)
    await call('PATCH', `guests/${b}`, { tags: ['x'] })
    await world.drain()
    expect(await pairsOf(a)).to.deep.equal([])
    const document = { kind: 'cpf', countryCode: 'BR', number: newCpf() }
    await call('POST', `guests/${a}/documents`, document)
    await call('POST', `guests/${b}/documents`, { ...document, allowDuplicate: true })
    await world.drain()
    expect((await pairsOf(a))[0]).to.deep.include({ score: 100, matches: ['document', 'email'] })
  })

  it('are not proposed in thousands where a family shares an address', async () => {
    const email = 'big-family@example.com'
    const [first = '', ...others] = await Promise.all(
      Array.from({ length: 50 }, (_, index) => create({ firstName: `Child ${index}`, email })),
    )
    expect(others).to.have.length(49)
    await forgetLimits(world)
    await world.drain()
    const [pairs] = await sql<{ n: number }>(
      world.database.admin,
      `select count(*)::int as n from guest_duplicate where ? in (guest_a, guest_b)`,
      [first],
    )
    expect(pairs?.n).to.be.at.least(1).and.at.most(50)
  })

  it('are merged: the survivor takes over what was chosen and what it lacks, and answers for both', async () => {
    const a = await create({ firstName: 'Ana', phone: '+5521911110001', tags: ['vip'] })
    const b = await create({
      firstName: 'Anna',
      phone: '+5521911110002',
      email: 'anna@example.com',
      birthDate: '1970-01-01',
    })
    await call('POST', `guests/${b}/notes`, { text: 'of b', audience: 'all' })
    const { status, body } = await merge(a, b, ['phone'])
    expect(status).to.equal(200)
    expect(body).to.deep.include({
      firstName: 'Ana',
      phone: '+5521911110002',
      email: 'anna@example.com',
      tags: ['vip'],
      status: 'active',
    })
    expect(body.mergedGuests.map((one: { id: string }) => one.id)).to.deep.equal([b])
    expect(body.notes[0].text).to.equal('of b')
    expect(await read(b)).to.deep.include({ status: 'merged', mergedIntoId: a })
    expect((await merge(a, b)).status, 'again').to.equal(200)
    expect((await call('PATCH', `guests/${b}`, { tags: [] })).body.code).to.equal('guest_merged')
    const found = await call('GET', `guests?q=${encodeURIComponent('anna@example.com')}`)
    expect(found.body.data.map((one: { id: string }) => one.id)).to.deep.equal([a])
    expect((await merge(a, a)).body.code).to.equal('merge_not_possible')
    const c = await create()
    expect((await merge(b, c)).body.code).to.equal('guest_merged')
    expect((await merge(c, b)).body.code).to.equal('guest_merged')
  })

  it('give back on unmerging what still is as the merge left it, and keep what changed since', async () => {
    const a = await create({ firstName: 'Ana', phone: '+5521911110003' })
    const b = await create({ firstName: 'Bea', phone: '+5521911110004', email: 'bea@example.com' })
    await merge(a, b, ['phone', 'firstName'])
    await call('PATCH', `guests/${a}`, { phone: '+5521911110005' })
    const { status, body } = await unmerge(b)
    expect(status).to.equal(200)
    expect(body).to.include({ status: 'active', mergedIntoId: null, email: 'bea@example.com' })
    expect(await read(a)).to.include({ firstName: 'Ana', phone: '+5521911110005', email: null })
    expect((await unmerge(b)).status, 'again').to.equal(200)
    expect((await unmerge(a)).body.code).to.equal('invalid_transition')
  })

  for (const order of ['first', 'last'] as const)
    it(`come apart one by one, the ${order} merge undone first`, async () => {
      const [a, b, c] = [
        await create({ firstName: 'A' }),
        await create({ firstName: 'B' }),
        await create({ firstName: 'C' }),
      ]
      await merge(b, a)
      await merge(c, b)
      expect(await read(a)).to.include({ status: 'merged', mergedIntoId: c })
      const [one, other] = order === 'first' ? [a, b] : [b, a]
      expect((await unmerge(one)).status).to.equal(200)
      expect(await read(a)).to.include(order === 'first' ? { status: 'active' } : { mergedIntoId: b })
      expect((await unmerge(other)).status).to.equal(200)
      for (const id of [a, b, c]) expect(await read(id)).to.include({ status: 'active', mergedIntoId: null })
    })

  it('leave nothing of a profile with those who took it over from its survivor', async () => {
    const a = await create({ firstName: 'A', email: 'only-a@example.com', phone: '+5521911110011' })
    const b = await create({ firstName: 'B', phone: '+5521911110012' })
    const c = await create({ firstName: 'C' })
    await merge(b, a, ['phone'])
    await merge(c, b)
    expect(await read(c)).to.include({ email: 'only-a@example.com', phone: '+5521911110011' })
    await unmerge(a)
    expect(await read(a)).to.include({ email: 'only-a@example.com', phone: '+5521911110011' })
    expect(await read(c), 'what b has without a').to.include({ email: null, phone: '+5521911110012' })
    await unmerge(b)
    expect(await read(b)).to.include({ email: null, phone: '+5521911110012' })
    expect(await read(c)).to.include({ email: null, phone: null })
  })

  it('stay where a later merge put them when an earlier one is undone', async () => {
    const [a, b, c] = [
      await create({ firstName: 'A' }),
      await create({ firstName: 'B' }),
      await create({ firstName: 'C' }),
    ]
    await merge(b, a)
    await merge(c, b)
    await unmerge(a)
    await merge(c, a)
    expect((await unmerge(b)).status).to.equal(200)
    expect(await read(b)).to.include({ status: 'active', mergedIntoId: null })
    expect(await read(a)).to.include({ status: 'merged', mergedIntoId: c })
  })

  it('are barred at a house by a document of any of them', async () => {
    const document = { kind: 'passport', countryCode: 'PT', number: 'MERGED 1' }
    const barred = await create({ documents: [document] })
    await call('POST', `guests/${barred}/blocks`, { level: 'refuse', reason: 'Broke the door' })
    const [survivor, merged] = [await create(), await create({ documents: [document], allowDuplicate: true })]
    await merge(survivor, merged)
    const found = await desk.house.inHouse((trx) =>
      blocksAmong(trx, desk.house.propertyId, 'select unnest(?::uuid[])', [survivor]),
    )
    expect(found).to.deep.equal([{ guestId: survivor, level: 'refuse' }])
  })

  it('are barred by a document that a barred guest has got since, and by one of a profile merged with theirs', async () => {
    const passport = (number: string) => ({ kind: 'passport', countryCode: 'PT', number })
    const [barred, other] = [await create(), await create({ documents: [passport('SINCE 2')] })]
    await call('POST', `guests/${barred}/blocks`, { level: 'refuse', reason: 'Broke the door' })
    const added = await call('POST', `guests/${barred}/documents`, passport('SINCE 1'))
    expect(added.status).to.equal(201)
    await merge(barred, other)
    const found = async (number: string, kind = 'passport') => {
      const id = await create({ documents: [{ ...passport(number), kind }], allowDuplicate: true })
      return (
        await desk.house.inHouse((trx) => blocksAmong(trx, desk.house.propertyId, 'select unnest(?::uuid[])', [id]))
      ).map(({ level }) => level)
    }
    expect(await found('SINCE 1')).to.deep.equal(['refuse'])
    expect(await found('SINCE 2')).to.deep.equal(['refuse'])
    expect(await found('SINCE 3')).to.deep.equal([])
    expect(await found('SINCE 1', 'rg'), 'another kind of document is another one').to.deep.equal([])
    const rejection = { decision: 'rejected', method: 'in_person', reason: 'It is of somebody else' }
    await call('POST', `guests/${barred}/documents/${added.body.id}/verify`, rejection)
    expect(await found('SINCE 1'), 'a rejected document says nothing').to.deep.equal([])
  })

  it('are linked with a booking from outside whose document and e-mail are of two of their profiles', async () => {
    const number = newCpf()
    const [survivor, merged, stranger] = [
      await create({ email: 'new-address@example.com' }),
      await create({ email: 'old-address@example.com', documents: [{ kind: 'cpf', countryCode: 'BR', number }] }),
      await create({ email: 'third-address@example.com' }),
    ]
    const found = (email: string) => desk.house.inHouse((trx) => findByDocumentAndEmail(trx, number, email))
    expect(await found('new-address@example.com')).to.equal(null)
    expect(await found('old-address@example.com')).to.equal(merged)
    await merge(survivor, merged)
    expect(await found('NEW-address@example.com')).to.equal(survivor)
    expect(await found('old-address@example.com')).to.equal(survivor)
    expect(await found('third-address@example.com'), stranger).to.equal(null)
    await unmerge(merged)
    expect(await found('new-address@example.com')).to.equal(null)
  })

  it('are found as probable again once their merge is undone', async () => {
    const phone = '+5521977776666'
    const [a, b] = [await create({ birthDate: '1971-01-01', phone }), await create({ birthDate: '1971-01-01', phone })]
    await world.drain()
    expect(await pairsOf(a)).to.have.length(1)
    await merge(a, b)
    await world.drain()
    expect(await pairsOf(a)).to.deep.equal([])
    await unmerge(b)
    await world.drain()
    expect((await pairsOf(a))[0]).to.deep.include({ score: 90, matches: ['phone', 'name_birth'] })
  })

  it('get no marketing that any of them has withdrawn, also what was queued under the old id', async () => {
    const [survivor, merged] = [await create(), await create()]
    const say = (id: string, decision: string) =>
      call('POST', `guests/${id}/consents`, { purpose: 'marketing_email', decision, source: 'desk', textVersion: '1' })
    await say(merged, 'granted')
    await merge(survivor, merged)
    const wants = (id: string) => desk.house.inHouse((trx) => hasConsent(trx, id, 'email'))
    expect([await wants(survivor), await wants(merged)]).to.deep.equal([true, true])
    await say(survivor, 'withdrawn')
    expect([await wants(survivor), await wants(merged)]).to.deep.equal([false, false])
  })

  it('get marketing again that the guest agrees to after the merge, which says nothing of a profile that comes apart', async () => {
    const [survivor, merged] = [await create(), await create()]
    const say = (id: string, decision: string) =>
      call('POST', `guests/${id}/consents`, { purpose: 'marketing_email', decision, source: 'desk', textVersion: '1' })
    const wants = (id: string) => desk.house.inHouse((trx) => hasConsent(trx, id, 'email'))
    const shown = async (id: string) => (await read(id)).consents.map(({ decision }: { decision: string }) => decision)
    await say(survivor, 'granted')
    await say(merged, 'withdrawn')
    await merge(survivor, merged)
    expect([await wants(survivor), await shown(survivor)]).to.deep.equal([false, ['withdrawn']])
    const { body } = await say(survivor, 'granted')
    expect(body.consents.map(({ decision }: { decision: string }) => decision)).to.deep.equal(['granted'])
    expect([await wants(survivor), await wants(merged)]).to.deep.equal([true, true])
    const third = await create()
    await say(third, 'withdrawn')
    await merge(survivor, third)
    expect([await wants(survivor), await shown(survivor)], 'it was agreed to before').to.deep.equal([
      false,
      ['withdrawn'],
    ])
    await unmerge(third)
    await unmerge(merged)
    expect([await wants(survivor), await wants(merged), await shown(merged)]).to.deep.equal([
      true,
      false,
      ['withdrawn'],
    ])
  })

  it('are blocked in the list by a block on any of them', async () => {
    const [survivor, merged] = [await create({ firstName: 'Barred' }), await create({ firstName: 'Barred' })]
    await call('POST', `guests/${merged}/blocks`, { level: 'refuse', reason: 'Broke the door' })
    const listed = async (query: string) =>
      ((await call('GET', `guests?q=barred&${query}`)).body.data as { id: string; blocked: string }[])
        .filter(({ id }) => id === survivor)
        .map(({ blocked }) => blocked)
    expect(await listed('blocked=refuse')).to.deep.equal([])
    await merge(survivor, merged)
    expect(await listed('')).to.deep.equal(['refuse'])
    expect(await listed('blocked=refuse')).to.deep.equal(['refuse'])
    expect(await listed('blocked=warn')).to.deep.equal([])
    const again = await call('POST', `guests/${survivor}/blocks`, { level: 'warn', reason: 'Once more' })
    expect(again.body.code).to.equal('already_blocked')
  })

  it('end in one way, however many desks merge in circles at once', async () => {
    const ids = await Promise.all(['A', 'B', 'C', 'D'].map((firstName) => create({ firstName })))
    const replies = await Promise.all(
      ids.flatMap((survivor) => ids.filter((id) => id !== survivor).map((merged) => merge(survivor, merged))),
    )
    for (const reply of replies) expect([200, 409], JSON.stringify(reply.body)).to.include(reply.status)
    const after = await rows<{ id: string; status: string; mergedIntoId: string | null }>(
      `select id, status, merged_into_id from guest where id = any(?)`,
      [ids],
    )
    const active = after.filter((row) => row.status === 'active').map((row) => row.id)
    expect(active.length).to.be.at.least(1)
    for (const row of after) if (row.status === 'merged') expect(active).to.include(row.mergedIntoId)
    const standing = await rows(`select merged_id from guest_merge where undone_at is null and merged_id = any(?)`, [
      ids,
    ])
    expect(standing).to.have.length(4 - active.length)
  })
})
