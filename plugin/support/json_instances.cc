#include "support/json_instances.h"

template class nlohmann::basic_json<>;
