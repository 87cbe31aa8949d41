import { closeDatabase } from '../../db/connection.ts'
import { stopServices } from './services.ts'

export const mochaGlobalTeardown = async () => {
  await closeDatabase()
  await stopServices()
}
