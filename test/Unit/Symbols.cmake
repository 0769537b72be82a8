torchc_unit_test(SymbolsTest SOURCES SymbolsTest.cpp LIBS torchc_rules)
