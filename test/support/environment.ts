import './variables.ts'
import { settings } from '../../config/env.ts'
import { startServices, testRedisUrl } from './services.ts'

// Before any test file is read, so that nothing sees the settings without them.
await startServices()
settings.redisUrl = testRedisUrl()
