import { expect } from 'chai'
import {
  changedContacts,
  maskBankDetails,
  maskParty,
  normalBankDetails,
  normalDocument,
  openContacts,
  searchTerm,
  sealContacts,
  searchOfParty,
} from '../../db/documents/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { makeTenant } from '../support/tenants.ts'
import { useWorld } from '../support/world.ts'

describe('Parties of documents', () => {
  useWorld()

  it('keep tax numbers of Brazil without dots, with letters, and with right check digits alone', () => {
    expect(normalDocument('BR', '529.982.247-25')).to.equal('52998224725')
    expect(normalDocument('BR', '12.abc.345/01de-35')).to.equal('12ABC34501DE35')
    expect(normalDocument('PT', '501 964 843')).to.equal('501964843')
    for (const wrong of ['52998224724', '11111111111', '12ABC34501DE36', '--', '123'])
      expect(() => normalDocument('BR', wrong), wrong).to.throw('not valid')
  })

  it('are sealed to their own row, and masked without a trace of the person', async () => {
    const tenantId = await makeTenant()
    const id = '6f0c9fd1-5f1e-4d1b-8f6a-0a2b4c6d8e10'
    const contacts = {
      email: 'ana.silva@example.com',
      phone: '+5524999990001',
      address: { city: 'Paraty' },
      contacts: [{ name: 'Rui Dias', email: 'rui@example.com' }],
    }
    await inTenant(tenantId, async (trx) => {
      const sealed = await sealContacts(trx, 'supplier', id, contacts)
      expect(sealed.includes('Paraty')).to.equal(false)
      expect(await openContacts(trx, 'supplier', id, sealed)).to.deep.equal(contacts)
      const other = await openContacts(trx, 'customer', id, sealed).catch((error: unknown) => error)
      expect(other).to.be.instanceOf(Error)
    })
    const shown = JSON.stringify(
      maskParty({ legalName: 'Ana Silva', tradeName: '', countryCode: 'BR', document: '52998224725', ...contacts }),
    )
    for (const word of ['Ana', 'Silva', '5299822', 'Paraty', 'Rui', '99999']) expect(shown).not.to.include(word)
    expect(changedContacts(contacts, { email: null })).to.deep.equal({ ...contacts, email: null })
  })

  it('are found by words without accents and by digits of the number', () => {
    const text = searchOfParty({ legalName: 'Padaria São João', tradeName: '', document: '52998224725' })
    expect(text).to.include(searchTerm('sao joao')).and.to.include(searchTerm('529.982'))
  })

  it('have Pix keys in the form of their type', () => {
    expect(normalBankDetails({ keyType: 'cpf', key: '529.982.247-25' })).to.deep.equal({
      keyType: 'cpf',
      key: '52998224725',
    })
    expect(() => normalBankDetails({ keyType: 'email', key: 'nobody' })).to.throw('not valid')
    expect(() => normalBankDetails({ keyType: 'phone', key: '24999990001' })).to.throw('not valid')
    expect(JSON.stringify(maskBankDetails({ keyType: 'email', key: 'ana@example.com' }))).not.to.include('ana@')
  })
})
