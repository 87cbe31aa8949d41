import { registerModules } from '../../db/register.ts'
import { expect } from 'chai'
import { forgetLimits } from '../auth/support.ts'
import { useWorld } from '../support/world.ts'
import { registerCompanyUses } from '../../db/guests/companies.ts'
import { useGuests } from './support.ts'

describe('Companies and agencies', () => {
  const world = useWorld()
  const desk = useGuests(world)
  const { call, rows } = desk
  beforeEach(() => forgetLimits(world))

  const contacts = [{ name: 'Lia Prado', role: 'Bookings', email: 'lia@agency.example', phone: '+5521999990003' }]

  it('keep their contacts sealed, and are found by words of their names', async () => {
    const made = await call('POST', 'companies', {
      kind: 'agency',
      legalName: 'Viagens do Atlântico Ltda',
      countryCode: 'BR',
      taxId: '11.222.333/0001-81',
      contacts,
      commissionRate: 1000,
      ratePlanIds: [desk.house.ratePlanId],
      address: { city: 'Santos' },
    })
    expect(made.status).to.equal(201)
    expect(made.body).to.deep.include({ taxId: '11222333000181', contacts, status: 'active', commissionRate: 1000 })
    const stored = await rows<{ text: string }>(`select c::text as text from company c`)
    expect(JSON.stringify(stored)).to.not.contain('Lia')
    for (const query of ['q=atlantico', 'taxId=11.222.333/0001-81', 'kind=agency&status=active'])
      expect(
        (await call('GET', `companies?${query}`)).body.data.map((one: { id: string }) => one.id),
        query,
      ).to.deep.equal([made.body.id])
    expect((await call('GET', 'companies?q=%25%25')).body.data).to.deep.equal([])
    const seen = await call('GET', `companies/${made.body.id}`, undefined, { role: 'auditor' })
    expect(seen.body.contacts).to.deep.equal([{ name: 'L*** P***', email: 'l***@a***.example', phone: '***0003' }])
    const change = await call('PATCH', `companies/${made.body.id}`, { contacts: [], taxId: null })
    expect(change.body).to.deep.include({ contacts: [], taxId: null, version: 2 })
  })

  it('have one tax number while active, also when two are made at once', async () => {
    const firm = { kind: 'company', legalName: 'Firma', countryCode: 'BR', taxId: '12ABC34501DE35' }
    const made = await Promise.all([1, 2, 3].map(() => call('POST', 'companies', firm)))
    expect(made.map((one) => one.status)).to.have.members([201, 409, 409])
    const id = made.find((one) => one.status === 201)?.body.id
    for (const one of made)
      if (one.status === 409) {
        expect(one.body.code).to.equal('duplicate_company')
        expect(one.body.errors).to.deep.equal([{ field: 'taxId', message: `is that of company ${id}` }])
      }
    expect((await call('POST', `companies/${id}/archive`)).body.status).to.equal('archived')
    expect((await call('POST', `companies/${id}/archive`)).status).to.equal(200)
    expect((await call('PATCH', `companies/${id}`, { notes: 'x' })).body.code).to.equal('invalid_transition')
    const next = await call('POST', 'companies', { ...firm, taxId: '12.ABC.345/01DE-35' })
    expect(next.status).to.equal(201)
    expect((await call('POST', `companies/${id}/restore`)).body.code).to.equal('duplicate_company')
  })

  it('are not retired while a higher module knows of open business', async () => {
    const { body: firm } = await call('POST', 'companies', { kind: 'company', legalName: 'Busy' })
    registerCompanyUses((_trx, companyId) =>
      Promise.resolve(companyId === firm.id ? [{ field: 'companyId', message: 'has stays to come' }] : []),
    )
    const refused = await call('POST', `companies/${firm.id}/archive`)
    expect(refused.body).to.deep.include({ code: 'company_in_use' })
    expect(refused.body.errors).to.deep.equal([{ field: 'companyId', message: 'has stays to come' }])
    expect((await call('GET', `companies/${firm.id}`)).body.status).to.equal('active')
    registerModules()
  })

  it('refuse numbers with wrong check digits, commissions of other kinds, and plans of nobody', async () => {
    const firm = { kind: 'company', legalName: 'Firma' }
    const wrong = await call('POST', 'companies', { ...firm, countryCode: 'BR', taxId: '11222333000182' })
    expect(wrong.body.code).to.equal('tax_id_invalid')
    expect((await call('POST', 'companies', { ...firm, taxId: '1' })).body.errors[0].field).to.equal('countryCode')
    expect((await call('POST', 'companies', { ...firm, commissionRate: 1 })).body.errors[0].field).to.equal(
      'commissionRate',
    )
    const strange = await call('POST', 'companies', { ...firm, ratePlanIds: [desk.house.propertyId] })
    expect(strange.body.code).to.equal('reference_not_found')
    expect((await call('POST', 'companies', firm, { role: 'receptionist' })).status).to.equal(403)
    expect((await call('POST', 'companies', firm, { role: 'finance' })).status).to.equal(201)
  })
})
