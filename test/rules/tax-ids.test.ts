import { expect } from 'chai'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'

describe('numbers of Brazilian tax payers', () => {
  it('are good with the right check digits, with and without dots', () => {
    for (const good of ['529.982.247-25', '52998224725', '11144477735']) expect(isCpf(good), good).to.equal(true)
    for (const good of ['11.222.333/0001-81', '11444777000161', '12.ABC.345/01DE-35', '12abc34501de35'])
      expect(isCnpj(good), good).to.equal(true)
  })

  it('are refused with one digit changed, one too few, all alike, or letters where digits belong', () => {
    for (const bad of ['52998224724', '5299822472', '111.111.111-11', '5299822472A', ''])
      expect(isCpf(bad), bad).to.equal(false)
    for (const bad of ['11222333000180', '1122233300018', '00000000000000', '12ABC34501DE3A', ''])
      expect(isCnpj(bad), bad).to.equal(false)
  })
})
