import type { Trx } from '../lib/connection.ts'
import { defaultBook } from '../financial/index.ts'
import { addSandboxAccount } from '../payment/index.ts'
import {
  createProperty,
  goLive,
  addImages,
  setPaymentMethods,
  createPolicy,
  createRatePlan,
} from '../properties/index.ts'
import { createUnitType, createUnits } from '../units/index.ts'
import { lua } from './ids.ts'
import { pricePlan, timeZone } from './prices.ts'

const fee = { type: 'nights', value: 1, of: 'room' } as const
const base = { bed: 8_000, privateRoom: 24_000, dorm: 52_000 }

/** "Hostel da Lua": a dormitory of 8, sold by bed or whole from one pool, and two private rooms. */
export const buildLua = async (trx: Trx): Promise<void> => {
  const { propertyId, gatewayAccountId } = lua
  const book = await defaultBook(trx)
  if (!book) throw new Error('the tenant has no book')
  await createProperty(trx, {
    id: propertyId,
    code: 'LUA',
    slug: 'hostel-da-lua',
    name: 'Hostel da Lua',
    description: { 'pt-BR': 'Um hostel no coração da Lapa.', en: 'A hostel in the heart of Lapa.' },
    kind: 'hostel',
    timezone: timeZone,
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
    address: {
      line1: 'Rua da Lapa, 120',
      city: 'Rio de Janeiro',
      region: 'RJ',
      postalCode: '20021-180',
      countryCode: 'BR',
    },
    phone: '+552122240120',
    email: 'oi@lua.example',
    legalName: 'Hostel da Lua Ltda',
    legalDocument: '11444777000161',
    checkInFrom: '15:00',
    checkOutUntil: '11:00',
    amenities: ['wifi', 'lockers', 'kitchen', 'laundry', 'common_room'],
    settings: {
      portal: {
        enabled: true,
        terms: { 'pt-BR': 'Idade mínima nos dormitórios: 18 anos.', en: 'Minimum age in the dormitory: 18.' },
        returnHosts: ['lua.example'],
      },
      taxes: { none: true },
    },
  })
  await addSandboxAccount(trx, {
    id: gatewayAccountId,
    bookId: book.id,
    country: 'BR',
    currency: 'BRL',
    label: 'Sandbox',
  })
  const beds = await createUnitType(trx, {
    id: lua.bed,
    propertyId,
    code: 'BED',
    name: { 'pt-BR': 'Cama em dormitório de 8', en: 'Bed in a dormitory of 8' },
    kind: 'shared',
    baseOccupancy: 1,
    maxAdults: 1,
    maxChildren: 0,
    maxOccupancy: 1,
    beds: [{ kind: 'bunk', count: 1 }],
    amenities: ['lockers', 'shared_bathroom', 'fan'],
    position: 0,
  })
  await createUnitType(trx, {
    id: lua.privateRoom,
    propertyId,
    code: 'PRIVATE',
    name: { 'pt-BR': 'Quarto privativo', en: 'Private room' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 2,
    maxChildren: 1,
    maxOccupancy: 3,
    beds: [{ kind: 'double', count: 1 }],
    amenities: ['private_bathroom', 'air_conditioning'],
    position: 1,
  })
  await createUnitType(trx, {
    id: lua.dorm,
    propertyId,
    code: 'DORM',
    name: { 'pt-BR': 'Dormitório inteiro', en: 'Whole dormitory' },
    kind: 'private',
    baseOccupancy: 8,
    maxAdults: 8,
    maxChildren: 0,
    maxOccupancy: 8,
    beds: [{ kind: 'bunk', count: 8 }],
    position: 2,
    pools: beds.pools.map(({ poolId }) => ({ poolId, quantity: 8 })),
  })
  await createUnits(trx, {
    propertyId,
    unitTypeId: lua.bed,
    names: ['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D8'],
    condition: 'inspected',
  })
  await createUnits(trx, { propertyId, unitTypeId: lua.privateRoom, names: ['P1', 'P2'], condition: 'inspected' })
  const cancellationPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'HOSTEL',
    name: 'Hostel',
    kind: 'cancellation',
    rules: {
      tiers: [{ hoursBeforeArrival: 24, fee: { type: 'none', value: 0, of: 'total' } }],
      after: fee,
      graceHoursAfterBooking: 0,
      earlyDeparture: { type: 'none', value: 0, of: 'room' },
    },
  })
  const noShowPolicyId = await createPolicy(trx, {
    propertyId,
    code: 'NOSHOW',
    name: 'Não comparecimento',
    kind: 'no_show',
    rules: { fee, releaseRemaining: true },
  })
  await createRatePlan(trx, {
    id: lua.standardPlan,
    propertyId,
    code: 'STD',
    name: { 'pt-BR': 'Tarifa padrão', en: 'Standard rate' },
    cancellationPolicyId,
    noShowPolicyId,
    unitTypes: [
      { unitTypeId: lua.bed, standardAmount: base.bed },
      { unitTypeId: lua.privateRoom, standardAmount: base.privateRoom, extraAdultAmount: 6_000 },
      { unitTypeId: lua.dorm, standardAmount: base.dorm },
    ],
  })
  await pricePlan(trx, propertyId, lua.standardPlan, {
    [lua.bed]: base.bed,
    [lua.privateRoom]: base.privateRoom,
    [lua.dorm]: base.dorm,
  })
  await addImages(trx, propertyId, [
    {
      url: 'https://images.pousada.example/lua/dorm.jpg',
      category: 'unit',
      unitTypeId: lua.bed,
      caption: { 'pt-BR': 'O dormitório', en: 'The dormitory' },
      facts: { width: 1600, height: 1067, mimeType: 'image/jpeg', bytes: 281_000 },
    },
  ])
  await setPaymentMethods(trx, propertyId, [
    { method: 'card', offeredTo: 'both', gatewayAccountId },
    { method: 'pix', offeredTo: 'both', gatewayAccountId },
    { method: 'pay_at_property', offeredTo: 'portal' },
  ])
  await goLive(trx, propertyId)
}
