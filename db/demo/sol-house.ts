import type { Trx } from '../lib/connection.ts'
import { createProperty } from '../properties/index.ts'
import { createUnitType, createUnits } from '../units/index.ts'
import { sol } from './ids.ts'
import { timeZone } from './prices.ts'

/** The inn itself, with its portal. */
export const buildProperty = (trx: Trx) =>
  createProperty(trx, {
    id: sol.propertyId,
    code: 'SOL',
    slug: 'pousada-do-sol',
    name: 'Pousada do Sol',
    description: {
      'pt-BR': 'Doze quartos entre a mata e o mar, a dez minutos do centro histórico de Paraty.',
      en: 'Twelve rooms between forest and sea, ten minutes from the historic centre of Paraty.',
    },
    kind: 'inn',
    timezone: timeZone,
    currency: 'BRL',
    locales: ['pt-BR', 'en'],
    address: {
      line1: 'Rua das Canoas, 45',
      district: 'Jabaquara',
      city: 'Paraty',
      region: 'RJ',
      postalCode: '23970-000',
      countryCode: 'BR',
    },
    geo: { latitude: -23.211_24, longitude: -44.718_36 },
    phone: '+552433710045',
    email: 'contato@sol.example',
    website: 'https://sol.example',
    legalName: 'Pousada do Sol Ltda',
    legalDocument: '11222333000181',
    registryNumber: '21.012345.10.0001-4',
    checkInFrom: '14:00',
    checkInUntil: '22:00',
    checkOutUntil: '12:00',
    cleaningMinutes: 120,
    amenities: ['wifi', 'breakfast', 'pool', 'free_parking', 'garden', 'air_conditioning', 'luggage_storage'],
    houseRules: {
      'pt-BR': 'Silêncio das 22h às 7h. Não é permitido fumar nos quartos.',
      en: 'Quiet from 22:00 to 07:00. No smoking in the rooms.',
    },
    settings: {
      // Until the inn has caught up with today: `sol-life.ts` switches it on.
      nightAudit: { automatic: false },
      portal: {
        enabled: true,
        theme: { primaryColour: '#e8a33d', logoUrl: 'https://images.pousada.example/sol/logo.png' },
        terms: {
          'pt-BR': 'A reserva vale para as pessoas indicadas. Na chegada, apresente um documento com foto.',
          en: 'The booking is for the persons named. Please show a photo identification on arrival.',
        },
        privacyUrl: 'https://sol.example/privacidade',
        returnHosts: ['portal.sol.example', 'sol.example'],
      },
    },
  })

/** Three types of room, twelve rooms. */
export const buildTypes = async (trx: Trx) => {
  const { propertyId } = sol
  await createUnitType(trx, {
    id: sol.standard,
    propertyId,
    code: 'STD',
    name: { 'pt-BR': 'Quarto Jardim', en: 'Garden Room' },
    description: {
      'pt-BR': 'No térreo, com rede na varanda.',
      en: 'On the ground floor, with a hammock on the veranda.',
    },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 2,
    maxChildren: 1,
    maxOccupancy: 3,
    beds: [{ kind: 'queen', count: 1 }],
    sizeM2: 22,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'hammock', 'fridge'],
    position: 0,
  })
  await createUnitType(trx, {
    id: sol.deluxe,
    propertyId,
    code: 'DLX',
    name: { 'pt-BR': 'Quarto Vista Mar', en: 'Sea View Room' },
    description: { 'pt-BR': 'Varanda com vista para a baía.', en: 'A balcony over the bay.' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 3,
    maxChildren: 2,
    maxOccupancy: 4,
    beds: [
      { kind: 'king', count: 1 },
      { kind: 'sofa_bed', count: 1 },
    ],
    sizeM2: 32,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'sea_view', 'balcony', 'minibar', 'safe'],
    position: 1,
  })
  await createUnitType(trx, {
    id: sol.master,
    propertyId,
    code: 'MASTER',
    name: { 'pt-BR': 'Suíte Master', en: 'Master Suite' },
    description: {
      'pt-BR': 'A casa inteira no alto do jardim, com ofurô.',
      en: 'The whole house at the top of the garden, with a hot tub.',
    },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 4,
    maxChildren: 2,
    maxOccupancy: 5,
    beds: [
      { kind: 'king', count: 1 },
      { kind: 'single', count: 2 },
    ],
    sizeM2: 68,
    amenities: ['wifi', 'air_conditioning', 'private_bathroom', 'sea_view', 'hot_tub', 'kitchen', 'minibar', 'safe'],
    position: 2,
  })
  await createUnits(trx, {
    propertyId,
    unitTypeId: sol.standard,
    names: ['101', '102', '103', '104', '105', '106', '107'],
    floor: 0,
    condition: 'inspected',
  })
  await createUnits(trx, {
    propertyId,
    unitTypeId: sol.deluxe,
    names: ['201', '202', '203', '204'],
    floor: 1,
    attributes: ['sea_view'],
    condition: 'inspected',
  })
  await createUnits(trx, {
    propertyId,
    unitTypeId: sol.master,
    names: ['301'],
    floor: 2,
    attributes: ['sea_view', 'quiet'],
    condition: 'inspected',
  })
}
