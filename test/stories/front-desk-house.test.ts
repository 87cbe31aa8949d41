import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { stranger } from '../support/stay.ts'
import { atTheDoor, done, openInn, openTenant, refused, useDaysAhead } from './inn.ts'
import type { Inn, Tenant } from './inn.ts'

describe('A day at the front desk: the house', function () {
  this.timeout(120_000)
  const world = useWorld()
  useDaysAhead()
  let tenant: Tenant
  let inn: Inn
  before(async () => {
    tenant = await openTenant(world)
  })
  beforeEach(async () => {
    inn = await openInn(tenant)
  })
  type Standing = { unitName: string; status: string; from: string; to: string }
  const unitsOf = async (id: string) =>
    ((await inn.stay(id)).assignments as Standing[])
      .filter((one) => one.status !== 'ended' && one.status !== 'released')
      .map(({ unitName, status, from, to }) => [unitName, status, from, to])
  const sold = async (type: string, ...nights: number[]) => {
    const found: (number | undefined)[] = []
    for (const ahead of nights) found.push((await inn.night(type, ahead))['sold'])
    return found
  }

  it('4: a pipe bursts: a guest moves, the room is blocked, the stay is extended and split', async () => {
    const { reception, manager } = tenant
    const first = await inn.book([inn.room('STD', 'FLEX', [0, 2])])
    expect(first.total).to.equal(41_200)
    const [{ id }] = first.reservations
    const arrive = { unitId: inn.id('101'), override: atTheDoor }
    done(await inn.act(reception, id, 'check-in', arrive))
    expect(done(await inn.act(reception, id, 'revert-check-in', { reason: 'The wrong room' }))).to.include({
      status: 'confirmed',
    })
    expect(await inn.unit('101')).to.include({ occupancy: 'vacant', condition: 'dirty' })
    expect(await unitsOf(id)).to.deep.equal([['101', 'locked', inn.D, inn.day(2)]])
    expect(await inn.folioOf(id)).to.include({ stage: 'deposit' })
    done(await inn.act(reception, id, 'check-in', { override: atTheDoor }))
    expect(await unitsOf(id)).to.deep.equal([['101', 'occupied', inn.D, inn.day(2)]])

    expect([await sold('STD', 0, 1), await sold('SUP', 0, 1)]).to.deep.equal([
      [1, 1],
      [0, 0],
    ])
    const moved = done(await inn.act(reception, id, 'move', { unitId: inn.id('202'), reason: 'maintenance' }))
    expect(moved).to.include({ total: 41_200 })
    expect([await sold('STD', 0, 1), await sold('SUP', 0, 1)]).to.deep.equal([
      [0, 0],
      [1, 1],
    ])
    const left = await inn.unit('101')
    expect(left).to.include({ occupancy: 'vacant', condition: 'dirty' })
    expect(left?.task).to.include({ kind: 'departure', status: 'open' })
    const block = { kind: 'out_of_order', reason: 'damage', from: inn.D, to: inn.day(1) }
    done(
      await manager.send('POST', 'unit-blocks', { propertyId: inn.propertyId, unitIds: [inn.id('101')], ...block }),
      201,
    )

    const second = await inn.book([inn.room('SUP', 'FLEX', [2, 3])])
    const [{ id: other }] = second.reservations
    done(await inn.act(reception, other, 'assign', { unitId: inn.id('202'), lock: true }))
    const propose = async (more: object) =>
      done(await inn.act(reception, id, 'amendments', { changes: { departure: inn.day(3), ...more } }), 201)
    expect(await propose({})).to.include({ unit: 'conflict', difference: 30_600, feasible: false })
    expect(await propose({ allowMove: true })).to.include({ unit: 'moves', difference: 30_600, feasible: true })
    const priced = async (amount: number) => {
      const proposal = await propose({ allowMove: true, manualNights: [{ date: inn.day(2), amount }] })
      return {
        proposal,
        accept: () =>
          inn.act(manager, id, `amendments/${proposal.amendmentId}/accept`, {
            override: { rules: ['price'], reason: 'For the trouble' },
          }),
      }
    }
    expect(refused(await (await priced(20_999)).accept())).to.include({ status: 403, code: 'override_not_permitted' })
    const { proposal, accept } = await priced(21_000)
    expect(proposal).to.include({ difference: 21_600 })
    expect(done(await accept())).to.include({ total: 62_800 })
    expect(await unitsOf(id)).to.deep.equal([
      ['202', 'occupied', inn.D, inn.day(2)],
      ['201', 'proposed', inn.day(2), inn.day(3)],
    ])
    expect(await inn.roll()).to.deep.equal([])
    const before = await inn.stay(id)
    expect(refused(await inn.act(reception, id, 'revert-check-in', { reason: 'Too late' }))).to.include({
      status: 422,
      code: 'transition_blocked',
    })
    expect(await inn.stay(id)).to.deep.equal(before)

    // On the day of the split the guest changes rooms.
    expect(await inn.roll()).to.deep.equal([])
    done(await inn.act(reception, id, 'move', { unitId: inn.id('201'), reason: 'operational' }))
    expect(await unitsOf(id)).to.deep.equal([['201', 'occupied', inn.day(2), inn.day(3)]])
    expect(await inn.unit('202')).to.include({ occupancy: 'vacant', condition: 'dirty' })
    await inn.healthy()
  })

  it('5: a wedding comes by a rooming list, and pays from one folio', async () => {
    const { manager, reception } = tenant
    const nights = ['STD', 'SUP'].map((type, index) => ({
      unitTypeId: inn.id(type),
      from: inn.D,
      to: inn.day(2),
      quantity: [3, 1][index],
    }))
    const group = done(
      await manager.send('POST', 'groups', {
        propertyId: inn.propertyId,
        code: 'WEDDING',
        name: 'A wedding',
        arrival: inn.D,
        departure: inn.day(2),
        ratePlanId: inn.id('CORP'),
        allotment: { nights },
      }),
      201,
    )
    const move = (verb: string, body: object = {}) => manager.send('POST', `groups/${group.id}/${verb}`, body)
    done(await move('option', { until: new Date(Date.now() + 3_600_000).toISOString() }))
    expect(await inn.night('STD', 0)).to.include({ allotted: 3, free: 1 })
    expect(await inn.night('SUP', 0)).to.include({ allotted: 1, free: 1 })
    const two = [inn.room('STD', 'FLEX', [0, 1]), inn.room('STD', 'FLEX', [0, 1])]
    const short = await reception.send('POST', 'bookings', {
      propertyId: inn.propertyId,
      source: 'phone',
      booker: { firstName: 'Rui' },
      rooms: two,
    })
    expect(refused(short)).to.include({ status: 409, code: 'sold_out' })
    expect(JSON.stringify(short.body.errors)).to.contain(inn.D)
    const confirmed = done(await move('confirm'))
    expect(confirmed.masterFolioId).to.be.a('string')
    expect(confirmed.routing).to.deep.equal({ categories: ['room'] })

    const row = (rowKey: string, type: string, adults: number, more: object = {}) => ({
      rowKey,
      unitTypeId: inn.id(type),
      arrival: inn.D,
      departure: inn.day(2),
      adults,
      childrenAges: [],
      guests: [{ firstName: rowKey, lastName: 'Souza' }],
      ...more,
    })
    const rows = [row('r1', 'STD', 2), row('r2', 'STD', 1), row('r3', 'SUP', 2)]
    const send = (body: object) => move('rooming-list', body)
    const results = (body: { rows: { result: string }[] }) => body.rows.map(({ result }) => result)
    const bookings = async () =>
      done(await manager.get(`bookings?groupId=${group.id}`)).data as { total: number; id: string }[]
    expect(results(done(await send({ rows, dryRun: true })))).to.deep.equal(['created', 'created', 'created'])
    expect(await bookings()).to.deep.equal([])
    const made = done(await send({ rows })).rows as { rowKey: string; reservationId: string }[]
    const of = (key: string) => made.find(({ rowKey }) => rowKey === key)?.reservationId ?? expect.fail(key)
    const totals: number[] = []
    for (const key of ['r1', 'r2', 'r3']) totals.push((await inn.stay(of(key))).total)
    expect(totals).to.deep.equal([37_200, 36_600, 55_200])
    expect((await bookings()).reduce((sum, { total }) => sum + total, 0)).to.equal(129_000)
    const pickup = async (type: string, ahead = 0) => {
      const { pickup: rowsOf } = done(await manager.get(`groups/${group.id}`))
      return (rowsOf as { date: string; unitTypeId: string; pickedUp: number; allotted: number }[])
        .filter((one) => one.date === inn.day(ahead) && one.unitTypeId === inn.id(type))
        .map(({ pickedUp, allotted }) => `${pickedUp}/${allotted}`)
        .join()
    }
    expect([await pickup('STD'), await pickup('SUP')]).to.deep.equal(['2/3', '1/1'])
    expect(results(done(await send({ rows })))).to.deep.equal(['unchanged', 'unchanged', 'unchanged'])
    const other = await send({ rows: [row('r1', 'STD', 2, { departure: inn.day(1) })] })
    expect(other.status).to.equal(422)
    expect(other.body.code).to.equal('rooming_list_invalid')
    expect(other.body.errors).to.deep.equal([{ field: 'rows.0.departure', message: 'use_amendment' }])

    const r2 = await inn.act(reception, of('r2'), 'cancel', { reason: 'changed_plans' })
    expect(done(r2)).to.include({ status: 'cancelled', feeAmount: 0 })
    expect(await inn.night('STD', 0)).to.include({ allotted: 2, sold: 1, free: 1 })
    done(await move('release'))
    expect(await inn.night('STD', 0)).to.include({ allotted: 0, sold: 1, free: 3 })

    done(await inn.act(reception, of('r1'), 'check-in', { override: atTheDoor }))
    done(await inn.act(reception, of('r3'), 'check-in', { override: atTheDoor }))
    done(await reception.send('POST', `reservations/${of('r1')}/extras`, { extraId: inn.id('BRK'), quantity: 1 }), 201)
    expect(await inn.roll()).to.deep.equal([])
    const master = await inn.folio(confirmed.masterFolioId)
    expect(master).to.include({ charges: 46_200 })
    const of_ = (category: string) =>
      (master.totals as { category: string; amount: number }[]).find((one) => one.category === category)?.amount
    expect([of_('room'), of_('tax')]).to.deep.equal([45_000, 1_200])
    expect(await inn.folioOf(of('r1'))).to.include({ charges: 5_000 })
    expect(await inn.folioOf(of('r3'))).to.include({ charges: 0 })
    await inn.healthy()
  })

  it('6: who is who: duplicates, masks, a merge and its undoing, and a guest who is not let in', async () => {
    const { reception, manager } = tenant
    const joao = {
      firstName: 'João',
      lastName: 'da Silva',
      phone: '+5524998761234',
      documents: [{ kind: 'cpf', countryCode: 'BR', number: '529.982.247-25' }],
    }
    const cpf = '52998224725'
    const plain = { ...joao, documents: [{ kind: 'cpf', countryCode: 'BR', number: cpf }] }
    const create = (body: object) => reception.send('POST', 'guests', body)
    const a = done(await create(joao), 201)
    const twice = await create(plain)
    expect(refused(twice)).to.include({ status: 409, code: 'duplicate_guest' })
    expect(JSON.stringify(twice.body)).to.contain(a.id)
    const found = async (query: string) =>
      (done(await reception.get(`guests?${query}`)).data as { id: string }[]).map(({ id }) => id)
    for (const q of ['silva joao', cpf, '529.982.247-25', '1234'])
      expect(await found(`q=${encodeURIComponent(q)}`), q).to.deep.equal([a.id])
    const b = done(await create({ ...plain, allowDuplicate: true }), 201)
    await inn.work()
    const pairs = done(await manager.get('guests/duplicates')).data as { score: number; guests: { id: string }[] }[]
    const pair = pairs.find(({ guests }) => guests.some(({ id }) => id === b.id))
    expect(pair?.score).to.equal(100)
    expect(pair?.guests.map(({ id }) => id)).to.have.members([a.id, b.id])

    const [document] = done(await reception.get(`guests/${a.id}`)).documents
    expect(document.number).to.match(/^[^0-9]*25$/)
    const shown = done(
      await reception.send('POST', `guests/${a.id}/reveal`, { reason: 'check_in', documentIds: [document.id] }),
    )
    expect(shown.documents[0].number.replaceAll(/\D/g, '')).to.equal(cpf)
    const audits = await tenant.inHouse((trx) =>
      sql<{ entry: string }>(trx, `select a::text as entry from audit_entry a where a::text like '%reveal%'`),
    )
    expect(audits).to.have.lengthOf(1)
    expect(audits[0]?.entry).to.not.contain(cpf)

    done(await manager.send('POST', `guests/${a.id}/merge`, { mergedGuestId: b.id, reason: 'The same person' }))
    const booking = await inn.book([inn.room('STD', 'FLEX', [5, 6])], { booker: { guestId: b.id } })
    expect(booking.booker).to.include({ guestId: a.id })
    const apart = { reason: 'Two people after all' }
    done(await manager.send('POST', `guests/${b.id}/unmerge`, apart))
    expect(done(await reception.get(`guests/${b.id}`))).to.include({ status: 'active' })
    expect((await inn.stay(booking.reservations[0].id)).primaryGuest).to.include({ guestId: a.id })

    const barred = { level: 'refuse', reason: 'Broke the furniture' }
    expect((await reception.send('POST', `guests/${a.id}/blocks`, barred)).status).to.equal(403)
    const block = done(await manager.send('POST', `guests/${a.id}/blocks`, barred), 201)
    const c = done(await create({ ...plain, allowDuplicate: true }), 201)
    const ask = (desk = reception, more: object = {}) =>
      desk.send('POST', 'bookings', {
        propertyId: inn.propertyId,
        source: 'desk',
        booker: { guestId: c.id },
        rooms: [inn.room('STD', 'FLEX', [8, 9])],
        ...more,
      })
    expect(refused(await ask())).to.deep.equal({
      status: 422,
      code: 'transition_blocked',
      fields: ['guest_barred'],
    })
    const { reply } = await inn.holdRoom(stranger().email, 'STD', 'FLEX', [8, 9], {
      document: { type: 'cpf', number: cpf },
    })
    expect(refused(reply)).to.include({ status: 422, code: 'booking_refused' })
    const override = { rules: ['barred_guest'], reason: 'He has paid for it' }
    done(await ask(manager, { override }), 201)
    done(await manager.send('POST', `guests/${a.id}/blocks/${block.id}/lift`, { reason: 'Settled' }))
    done(await ask(), 201)
  })
})
