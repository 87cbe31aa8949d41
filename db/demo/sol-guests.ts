import { addNote, createCompany, createGuests, recordFirstConsents } from '../guests/index.ts'
import type { Trx } from '../lib/connection.ts'
import { sol } from './ids.ts'

/** A few people who have been here before, two of them perhaps one, and a firm that sends others. */
export const buildGuests = async (trx: Trx): Promise<void> => {
  const [clara = ''] = await createGuests(
    trx,
    [
      {
        firstName: 'Clara',
        lastName: 'Monteiro',
        source: 'staff',
        language: 'pt-BR',
        nationality: 'BR',
        email: 'clara.monteiro@guests.example',
        phone: '+5521987650001',
        birthDate: '1984-03-12',
        address: { city: 'Niterói', region: 'RJ', countryCode: 'BR' },
        preferences: [{ category: 'room', text: 'Away from the stairs' }],
        tags: ['returning'],
        documents: [{ kind: 'cpf', countryCode: 'BR', number: '529.982.247-25' }],
      },
      {
        firstName: 'Clara',
        lastName: 'Monteiro Reis',
        source: 'portal',
        email: 'clara.monteiro@guests.example',
        birthDate: '1984-03-12',
      },
      {
        firstName: 'Jonas',
        lastName: 'Weber',
        source: 'staff',
        language: 'de',
        nationality: 'DE',
        email: 'jonas.weber@guests.example',
        phone: '+4915112345678',
        documents: [{ kind: 'passport', countryCode: 'DE', number: 'C01X00T47', expiresOn: '2032-06-30' }],
      },
    ],
    { allowDuplicate: true },
  )
  await addNote(trx, clara, { text: 'Brings her own pillow', audience: 'all', alertAt: 'check_in' })
  await recordFirstConsents(trx, clara, [
    { purpose: 'marketing_email', decision: 'granted', source: 'desk', textVersion: '2026-11' },
  ])
  await createCompany(trx, {
    kind: 'agency',
    legalName: 'Viagens do Atlântico Ltda',
    tradeName: 'Atlântico',
    countryCode: 'BR',
    taxId: '11.444.777/0001-61',
    email: 'reservas@atlantico.example',
    contacts: [{ name: 'Lia Prado', role: 'Bookings', phone: '+5521987650003' }],
    commissionRate: 1000,
    ratePlanIds: [sol.flexible],
  })
}
