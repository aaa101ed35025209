// The independent reader of JSON that tests/show has; that folder is an executable of its own.
#include "tests/show/json_value.cpp"  // NOLINT
