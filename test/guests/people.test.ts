import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays, todayIn } from '../../config/time.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { createGuests, resolveGuests, updateGuest } from '../../db/guests/index.ts'
import type { NewGuest } from '../../db/guests/index.ts'
import { readContact } from '../../db/guests/profiles.ts'
import { makeTenant } from '../support/tenants.ts'
import { useWorld } from '../support/world.ts'

type Refusal = { code: string; errors?: { field: string; message: string }[] }

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  try {
    await work
  } catch (error) {
    return error as Refusal
  }
  throw new Error('it was not refused')
}

const guest = (given: Partial<NewGuest> = {}): NewGuest => ({
  firstName: 'Ana',
  lastName: 'Conceição',
  source: 'staff',
  ...given,
})
const cpf = (number: string) => [{ kind: 'cpf' as const, countryCode: 'BR', number }]

describe('Profiles of guests', () => {
  useWorld()
  let tenantId: string
  const inside = <T>(work: Parameters<typeof inTenant<T>>[1]) => inTenant(tenantId, work)
  const create = (...guests: NewGuest[]) => inside((trx) => createGuests(trx, guests))
  const count = () =>
    inside(async (trx) => (await sqlOne<{ count: number }>(trx, `select count(*) as count from guest`))?.count)

  before(async () => {
    tenantId = await makeTenant()
  })

  it('are made many at once, with keys, indexes and documents', async () => {
    const ids = await create(
      guest({
        email: 'Ana@Example.com',
        phone: '+5524999990001',
        birthDate: '1990-02-28',
        documents: cpf('529.982.247-25'),
      }),
      guest({ firstName: 'Rui', lastName: '', preferredName: 'Ruizinho' }),
    )
    expect(ids).to.have.length(2)
    const rows = await inside((trx) =>
      sql<{ firstName: string; nameSearch: string; birthIndex: Buffer | null; keys: number }>(
        trx,
        `select g.first_name, g.name_search, g.birth_index, (select count(*) from guest_key k where k.guest_id = g.id) as keys
         from guest g where id = any(?) order by first_name`,
        [ids],
      ),
    )
    expect(rows.map((row) => [row.nameSearch, row.birthIndex !== null, row.keys])).to.deep.equal([
      ['ana conceicao', true, 2],
      ['rui ruizinho', false, 2],
    ])
    expect(await inside((trx) => readContact(trx, ids[0]!))).to.include({ email: 'Ana@Example.com' })
  })

  it('are one for a CPF, however it is typed, and when two desks type it at once', async () => {
    const before = (await count()) ?? 0
    const results = await Promise.allSettled(
      ['111.444.777-35', '11144477735', ' 111444777-35', '111.444.77735'].map((number) =>
        create(guest({ documents: cpf(number) })),
      ),
    )
    const made = results.filter((one) => one.status === 'fulfilled')
    expect(made).to.have.length(1)
    expect(await count()).to.equal(before + 1)
    for (const one of results)
      if (one.status === 'rejected') {
        expect(one.reason.code).to.equal('duplicate_guest')
        expect(one.reason.errors).to.deep.equal([
          { field: 'documents.0.number', message: `is a document of guest ${made[0]?.value[0]}` },
        ])
      }
  })

  it('tell apart documents of one number that two countries issued', async () => {
    const passport = (countryCode: string) => [{ kind: 'passport' as const, countryCode, number: 'X 123' }]
    await create(guest({ documents: passport('FR') }), guest({ documents: passport('US') }))
    expect((await refusal(create(guest({ documents: passport('ZZ') })))).code).to.equal('duplicate_guest')
  })

  it('refuse one document for two guests of a request, a false CPF, and a birth date to come', async () => {
    const before = await count()
    const twice = await refusal(
      create(guest({ documents: cpf('390.533.447-05') }), guest({ documents: cpf('39053344705') })),
    )
    expect(twice).to.include({ code: 'duplicate_guest' })
    expect(twice.errors?.[0]?.field).to.equal('guests.1.documents.0.number')
    expect((await refusal(create(guest({ documents: cpf('529.982.247-26') })))).code).to.equal('document_invalid')
    const unborn = await refusal(create(guest({ birthDate: addDays(todayIn('UTC'), 2) })))
    expect(unborn).to.include({ code: 'validation_failed' })
    expect(await count()).to.equal(before)
  })

  it('change by the fields that were sent, and are found by what they are then', async () => {
    const [id = ''] = await create(guest({ email: 'old@example.com', phone: '+5524999990002' }))
    await inside((trx) => updateGuest(trx, id, { email: 'new@example.com', lastName: 'Lima' }))
    const contact = await inside((trx) => readContact(trx, id))
    expect(contact).to.deep.equal({
      firstName: 'Ana',
      lastName: 'Lima',
      email: 'new@example.com',
      phone: '+5524999990002',
    })
    const stale = await refusal(inside((trx) => updateGuest(trx, id, { lastName: 'X' }, 1)))
    expect(stale.code).to.equal('version_conflict')
    const told = await inside((trx) =>
      sql<{ changed: unknown }>(trx, `select changed from event where type = 'guest.changed' and entity ->> 'id' = ?`, [
        id,
      ]),
    )
    expect(JSON.stringify(told)).to.not.match(/example\.com|Lima/)
  })

  it('are named by their survivor where they were merged, and refused where they were erased', async () => {
    const [first = '', second = '', third = ''] = await create(guest(), guest(), guest())
    await inside(async (trx) => {
      await sql(trx, `update guest set status = 'merged', merged_into_id = ? where id = ?`, [first, second])
      await sql(
        trx,
        `update guest set status = 'erased', erased_at = now(), sealed = null, email_index = null, phone_index = null,
           phone_tail_index = null, birth_index = null, name_index = null where id = ?`,
        [third],
      )
    })
    const known = await inside((trx) => resolveGuests(trx, [second, first, second]))
    expect([...known.entries()]).to.have.deep.members([
      [second, first],
      [first, first],
    ])
    expect((await refusal(inside((trx) => resolveGuests(trx, [third])))).code).to.equal('guest_erased')
    expect((await refusal(inside((trx) => updateGuest(trx, second, { lastName: 'X' })))).code).to.equal('guest_merged')
    expect((await refusal(inside((trx) => updateGuest(trx, third, { lastName: 'X' })))).code).to.equal('guest_erased')
    const strange = randomUUID()
    expect((await refusal(inside((trx) => resolveGuests(trx, [first, strange])))).errors).to.deep.equal([
      { field: 'guestId', message: `${strange} does not exist` },
    ])
    const others = await makeTenant()
    expect((await refusal(inTenant(others, (trx) => resolveGuests(trx, [first])))).code).to.equal('reference_not_found')
  })
})
